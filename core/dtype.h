// Element types of tiles, tensors and windows: the six that an atomic add may use on a2a3.
#ifndef SYMRACE_CORE_DTYPE_H_
#define SYMRACE_CORE_DTYPE_H_

#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pl {

using fp16 = Eigen::half;
using bf16 = Eigen::bfloat16;

// Names as in `pl.FP32`.
enum class DType : std::uint8_t { FP32, FP16, BF16, INT32, INT16, INT8 };

inline constexpr DType kAllDTypes[] = {DType::FP32,  DType::FP16,  DType::BF16,
                                       DType::INT32, DType::INT16, DType::INT8};

template <class T>
concept FloatingElement = std::same_as<T, float> || std::same_as<T, fp16> || std::same_as<T, bf16>;
template <class T>
concept IntegerElement =
    std::same_as<T, std::int32_t> || std::same_as<T, std::int16_t> || std::same_as<T, std::int8_t>;
template <class T>
concept Element = FloatingElement<T> || IntegerElement<T>;

template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, float>) return DType::FP32;
  if constexpr (std::same_as<T, fp16>) return DType::FP16;
  if constexpr (std::same_as<T, bf16>) return DType::BF16;
  if constexpr (std::same_as<T, std::int32_t>) return DType::INT32;
  if constexpr (std::same_as<T, std::int16_t>) return DType::INT16;
  if constexpr (std::same_as<T, std::int8_t>) return DType::INT8;
}

constexpr std::int64_t dtype_bytes(DType dtype) {
  switch (dtype) {
    case DType::FP32:
    case DType::INT32:
      return 4;
    case DType::FP16:
    case DType::BF16:
    case DType::INT16:
      return 2;
    case DType::INT8:
      return 1;
  }
  return 0;
}

// "fp32", "fp16", "bf16", "int32", "int16", "int8": the spelling of `--dtype`.
std::string_view dtype_name(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);

// Calls `visitor(std::type_identity<T>{})` with the C++ type of `dtype`.
template <class Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::FP32:
      return visitor(std::type_identity<float>{});
    case DType::FP16:
      return visitor(std::type_identity<fp16>{});
    case DType::BF16:
      return visitor(std::type_identity<bf16>{});
    case DType::INT32:
      return visitor(std::type_identity<std::int32_t>{});
    case DType::INT16:
      return visitor(std::type_identity<std::int16_t>{});
    case DType::INT8:
      break;
  }
  return visitor(std::type_identity<std::int8_t>{});
}

}  // namespace pl

#endif  // SYMRACE_CORE_DTYPE_H_
