// Everything stands in the header that is included before every .cu file.
#pragma once
#include <cuda_runtime.h>
