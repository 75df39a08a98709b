// Sparse tensors streamed to and from the dense form of files, a few megabytes at a time.
#pragma once

#include <functional>

#include "qwen/checkpoint.h"
#include "qwen/file.h"
#include "qwen/progress.h"
#include "qwen/tensors.h"

namespace qwengpu::qwen {

std::uint64_t dense_bytes(const TensorSpec& spec, DType type);

// Counts bytes over many tensors for one progress report.
class ProgressMeter {
 public:
  ProgressMeter(const Progress& progress, std::uint64_t total) : progress_(progress), total_(total) {
    add(0);
  }
  void add(std::uint64_t bytes) {
    done_ += bytes;
    if (progress_) progress_(done_, total_);
  }

 private:
  const Progress& progress_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
};

// Row-major values of the tensor, each as `form` stores it.
void write_dense(OutputFile& file, const SparseTensor& tensor, GgufForm form, DType type,
                 ProgressMeter& meter);

// From the file's position; std::runtime_error naming file and tensor when a value is not finite or cannot be
// of this form.
SparseTensor read_dense(InputFile& file, const TensorSpec& spec, GgufForm form, DType type,
                        ProgressMeter& meter);

// std::runtime_error naming the tensor when bf16 has no such number as one of its entries. The entries of
// norms and A_log count as they stand in the checkpoint.
void require_exact_bf16(const std::string& name, const SparseTensor& tensor);

// The checkpoint's tensor of this specification; std::runtime_error when it is missing, misshaped or not
// `finish`ed.
const SparseTensor& tensor_to_write(const Checkpoint& checkpoint, const TensorSpec& spec);

}  // namespace qwengpu::qwen
