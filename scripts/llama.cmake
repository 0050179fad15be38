# Read by CMake where llama.cpp's own project begins: its common library serves its tools alone, and is a third of all there is to compile.
set(LLAMA_BUILD_COMMON OFF)
