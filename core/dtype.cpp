#include "core/dtype.h"

namespace pl {

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::FP32:
      return "fp32";
    case DType::FP16:
      return "fp16";
    case DType::BF16:
      return "bf16";
    case DType::INT32:
      return "int32";
    case DType::INT16:
      return "int16";
    case DType::INT8:
      return "int8";
  }
  return "unknown";
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DType dtype : kAllDTypes) {
    if (dtype_name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

}  // namespace pl
