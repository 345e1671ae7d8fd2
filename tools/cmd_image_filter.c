// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "commands.h"
#include "plane.h"

static const char help[] =
    "usage: kallima image filter IN OUT --type TYPE --cutoff F [OPTION]...\n"
    "\n"
    "Filter an image in the frequency domain. Reads PNG, JPEG, PBM, PGM, PPM and PAM;\n"
    "writes what the name of OUT ends in: .png, .jpg, .jpeg, .pgm, .ppm, .pnm or .pam.\n"
    "Each colour channel is filtered alone; alpha stays as it is.\n"
    "\n"
    "  --type TYPE        lowpass, highpass, bandpass or bandstop\n"
    "  --shape SHAPE      gaussian (the default), ideal or butterworth\n"
    "  --order K          order of the Butterworth filter, 1 to 100 (2)\n"
    "  --cutoff F         cutoff frequency; the lower one of a band\n"
    "  --cutoff-high F    the upper one of a band\n"
    "  --pad PAD          what surrounds the image: its mirror image (reflect, the\n"
    "                     default), zeros (zero), or the image itself, repeated (none)\n"
    "\n"
    "A frequency is in cycles per pixel, 0 to 0.5, in every direction; or, with a "
    "trailing\n"
    "px, a radius in pixels of the image's own spectrum along its width: Rpx is\n"
    "R/width cycles per pixel, 0 to width/2, whatever the height and the padding.\n"
    "\n"
    "With f = sqrt(fx^2 + fy^2) and the cutoff c, the low-pass gain L(f, c) is\n"
    "  ideal        1 if f <= c, else 0\n"
    "  gaussian     exp(-f^2 / (2 c^2)), which is 0.607 at the cutoff\n"
    "  butterworth  1 / (1 + (f/c)^(2 K)), which is 0.5 at the cutoff\n"
    "and the others are\n"
    "  highpass     1 - L(f, cutoff)\n"
    "  bandpass     L(f, cutoff-high) (1 - L(f, cutoff))\n"
    "  bandstop     1 - bandpass\n"
    "\n"
    "The result v of lowpass and bandstop is rounded and clamped to the image's range. "
    "That\n"
    "of highpass and bandpass, which has both signs, is shown as |v| times one factor "
    "for\n"
    "all channels that makes the largest |v| white; it is black if no |v| reaches a\n"
    "100000th of white.\n";

enum type { LOWPASS, HIGHPASS, BANDPASS, BANDSTOP, TYPE_COUNT };
static const char *const type_names[TYPE_COUNT] = {
    [LOWPASS] = "lowpass",
    [HIGHPASS] = "highpass",
    [BANDPASS] = "bandpass",
    [BANDSTOP] = "bandstop",
};

struct response;
typedef double lowpass(const struct response *response, double f, double cutoff);

/** The filter's gain as a function of frequency, in cycles per pixel. */
struct response {
    enum type type;
    lowpass *shape;
    int64_t order;
    double low, high;
};

// A frequency that the cutoff names exactly passes in spite of rounding.
static double ideal(const struct response *response, double f, double cutoff)
{
    (void)response;
    return f <= cutoff * (1.0 + 1e-12) ? 1.0 : 0.0;
}

static double gaussian(const struct response *response, double f, double cutoff)
{
    (void)response;
    return exp(-0.5 * (f / cutoff) * (f / cutoff));
}

static double butterworth(const struct response *response, double f, double cutoff)
{
    return 1.0 / (1.0 + pow(f / cutoff, 2.0 * (double)response->order));
}

enum { SHAPE_COUNT = 3 };
static const char *const shape_names[SHAPE_COUNT] = { "gaussian", "ideal",
                                                      "butterworth" };
static lowpass *const shapes[SHAPE_COUNT] = { gaussian, ideal, butterworth };

// Frequency 0 always passes, even if the cutoff is 0.
static double pass(const struct response *response, double f, double cutoff)
{
    return f == 0.0 ? 1.0 : response->shape(response, f, cutoff);
}

static double gain(const struct response *response, double f)
{
    const double low = pass(response, f, response->low);
    if (response->type == LOWPASS)
        return low;
    if (response->type == HIGHPASS)
        return 1.0 - low;
    const double band = pass(response, f, response->high) * (1.0 - low);
    return response->type == BANDPASS ? band : 1.0 - band;
}

static void multiply(const void *user, struct plane *spectrum)
{
    const struct response *response = user;
    for (int64_t ky = 0; ky < spectrum->height; ky++) {
        const int64_t around = spectrum->height - ky;
        const double fy = (double)(ky < around ? ky : around) / (double)spectrum->height;
        float *row = spectrum->value + ky * spectrum->pitch;
        for (int64_t kx = 0; kx <= spectrum->width / 2; kx++) {
            const double fx = (double)kx / (double)spectrum->width;
            const float g = (float)gain(response, sqrt(fx * fx + fy * fy));
            row[2 * kx] *= g;
            row[2 * kx + 1] *= g;
        }
    }
}

/** A cutoff as typed. */
struct frequency {
    const char *text; // NULL: not given
    double value;     // cycles per pixel, or spectrum pixels of the image's width
    bool in_pixels;
};

/** What the command line asks for. */
struct request {
    const char *in, *out;
    struct frequency cutoff, cutoff_high;
    struct response response;
    enum pad pad;
};

// "0.1" or "32px". Returns CLI_OK or CLI_USAGE.
static int parse_frequency(const struct cli *cli, const char *option,
                           struct frequency *frequency)
{
    const char *end, *text = frequency->text;
    if (!cli_parse_number(text, &frequency->value, &end) ||
        (*end && strcmp(end, "px") != 0))
        return cli_usage(cli,
                         "%s %s: must be a number of cycles per pixel, or of spectrum "
                         "pixels with px behind it",
                         option, text);
    frequency->in_pixels = *end != '\0';
    if (frequency->value < 0.0 || (!frequency->in_pixels && frequency->value > 0.5))
        return cli_usage(cli, "%s %s: must be 0 to 0.5 cycles per pixel", option, text);
    return CLI_OK;
}

// The frequency in cycles per pixel of an image of this width.
static bool resolve(const struct frequency *frequency, int64_t width, double *out)
{
    *out = frequency->in_pixels ? frequency->value / (double)width : frequency->value;
    if (*out <= 0.5)
        return true;
    cli_fail("image filter: the cutoff %s is above %.10gpx, half the image's width",
             frequency->text, (double)width / 2.0);
    return false;
}

static bool take_frequencies(struct request *request, int64_t width)
{
    struct response *response = &request->response;
    if (!resolve(&request->cutoff, width, &response->low) ||
        !resolve(&request->cutoff_high, width, &response->high))
        return false;
    if (!request->cutoff_high.text || response->low < response->high)
        return true;
    cli_fail("image filter: --cutoff-high %s must be above --cutoff %s",
             request->cutoff_high.text, request->cutoff.text);
    return false;
}

// Padding worth having on an axis: the response rings for some periods of the cutoff, and
// a whole mirror image leaves no seam at all.
static int64_t padding(int64_t n, double cutoff)
{
    const double wanted = 2.0 * ceil(4.0 / fmax(cutoff, 1e-9));
    return wanted < (double)n ? (int64_t)wanted : n;
}

static bool filter(struct image *image, const struct request *request,
                   kallima_device *device)
{
    const struct response *response = &request->response;
    const struct filter job = {
        .device = device,
        .pad = request->pad,
        .extra_x = padding(image->width, response->low),
        .extra_y = padding(image->height, response->low),
        .magnitude = response->type == HIGHPASS || response->type == BANDPASS,
        .label = "filtering",
        .multiply = multiply,
        .user = response,
    };
    return filter_image(image, &job);
}

static int run(const struct cli *cli, struct request *request)
{
    struct image image;
    kallima_device *device = NULL;
    if (!image_read(&image, request->in))
        return CLI_FAILED;
    const bool good = take_frequencies(request, image.width) &&
                      image_can_write(request->out, &image) &&
                      cli_open_device(cli, &device) && filter(&image, request, device) &&
                      image_write(&image, request->out);
    kallima_device_close(&device);
    image_clear(&image);
    return good ? CLI_OK : CLI_FAILED;
}

// Refuse what is wrong whatever the image. Returns CLI_OK or CLI_USAGE.
static int check(const struct cli *cli, struct request *request, bool typed)
{
    const bool band =
        request->response.type == BANDPASS || request->response.type == BANDSTOP;
    if (!typed)
        return cli_usage(cli, "--type is needed");
    if (!request->cutoff.text)
        return cli_usage(cli, "--cutoff is needed");
    if (band && !request->cutoff_high.text)
        return cli_usage(cli, "--cutoff-high is needed for a band");
    if (!band && request->cutoff_high.text)
        return cli_usage(cli, "--cutoff-high is only for bandpass and bandstop");
    if (parse_frequency(cli, "--cutoff", &request->cutoff) != CLI_OK)
        return CLI_USAGE;
    return band ? parse_frequency(cli, "--cutoff-high", &request->cutoff_high) : CLI_OK;
}

static int take_option(const struct cli *cli, int code, struct request *request)
{
    int choice = 0;
    switch (code) {
    case 't':
        if (!cli_choose(cli, "--type", optarg, type_names, TYPE_COUNT, &choice))
            return CLI_USAGE;
        request->response.type = (enum type)choice;
        return CLI_OK;
    case 's':
        if (!cli_choose(cli, "--shape", optarg, shape_names, SHAPE_COUNT, &choice))
            return CLI_USAGE;
        request->response.shape = shapes[choice];
        return CLI_OK;
    case 'p':
        if (!cli_choose(cli, "--pad", optarg, pad_names, PAD_COUNT, &choice))
            return CLI_USAGE;
        request->pad = (enum pad)choice;
        return CLI_OK;
    case 'o':
        if (!cli_parse_int64(optarg, 1, 100, &request->response.order))
            return cli_usage(cli, "--order %s: must be an integer from 1 to 100", optarg);
        return CLI_OK;
    case 'c': request->cutoff.text = optarg; return CLI_OK;
    case 'C': request->cutoff_high.text = optarg; return CLI_OK;
    default: return CLI_USAGE;
    }
}

int cmd_image_filter(const struct cli *cli, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "type", required_argument, NULL, 't' },
        { "shape", required_argument, NULL, 's' },
        { "order", required_argument, NULL, 'o' },
        { "cutoff", required_argument, NULL, 'c' },
        { "cutoff-high", required_argument, NULL, 'C' },
        { "pad", required_argument, NULL, 'p' },
        { 0 },
    };
    struct request request = { .response = { .shape = gaussian, .order = 2 } };
    bool typed = false;
    for (int code; (code = cli_getopt(cli, argc, argv, options)) != -1;) {
        if (code == 'h')
            return cli_print_help(help);
        if (take_option(cli, code, &request) != CLI_OK)
            return CLI_USAGE;
        typed = typed || code == 't';
    }
    if (argc - optind != 2)
        return cli_usage(cli, "an input and an output are needed, %d names are given",
                         argc - optind);
    request.in = argv[optind];
    request.out = argv[optind + 1];
    return check(cli, &request, typed) == CLI_OK ? run(cli, &request) : CLI_USAGE;
}
