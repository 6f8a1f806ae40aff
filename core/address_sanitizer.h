// SYMRACE_HAS_ASAN is defined where AddressSanitizer watches, by either compiler's way to tell.
#ifndef SYMRACE_CORE_ADDRESS_SANITIZER_H_
#define SYMRACE_CORE_ADDRESS_SANITIZER_H_

#if defined(__SANITIZE_ADDRESS__)
#define SYMRACE_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYMRACE_HAS_ASAN 1
#endif
#endif

#endif  // SYMRACE_CORE_ADDRESS_SANITIZER_H_
