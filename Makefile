# SPDX-License-Identifier: MIT
# A thin front to CMake: the presets in CMakePresets.json say how things are built.
#
#   make            build the library and the program kallima
#   make demo       filter a photograph (IMAGE=another.png) into demo/
#   make check      build everything and run every test
#   make check-long the same with the long tests
#   make bench      measure speed (ARGS="--peer fftw 1024 256x256")
#   make install    install below PREFIX (/usr/local), DESTDIR in front of it
#   make format     lay the sources out as .clang-format says
#   make clean      delete what was built

PREFIX ?= /usr/local
ARGS ?=
JOBS ?= $(shell nproc)
# Warnings are errors where a machine reads them.
WERROR = $(if $(CI),ON,OFF)

.DEFAULT_GOAL = build
.PHONY: build demo check check-long bench install format clean

build:
	scripts/install_dependencies.sh build
	cmake --preset program
	cmake --build --preset program --parallel $(JOBS)

demo:
	scripts/install_dependencies.sh demo
	cmake --preset program
	cmake --build --preset program --parallel $(JOBS)
	scripts/demo.sh build/tools/kallima

check check-long:
	scripts/install_dependencies.sh $@
	cmake --preset default -DKALLIMA_WERROR=$(WERROR)
	cmake --build --preset default --parallel $(JOBS)
	OMP_WAIT_POLICY=passive ctest --test-dir build -C Check --output-on-failure \
	    --parallel $(JOBS) $(if $(filter check,$@),--label-exclude long)

bench: build
	build/tools/kallima bench $(ARGS)

install: build
	cmake --install build --prefix $(PREFIX)

format:
	scripts/check_format.sh --fix

clean:
	cmake -E rm -rf build build-library build-debug build-asan build-tsan build-neon \
	    build-clang build-windows demo
