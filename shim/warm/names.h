#pragma once
// The variables by which zygo-exec informs zygo-warm.so, in the environment of the interpreter.

namespace shim {

inline constexpr const char* kPreloadName = "LD_PRELOAD";       // ld.so(8)
inline constexpr const char* kScriptName = "ZYGO_WARM_SCRIPT";  // what programs are called
inline constexpr const char* kPlainName = "ZYGO_WARM_PLAIN";    // path of zygo-exec
inline constexpr const char* kHeapName = "ZYGO_HEAP";           // how its memory is kept (HeapMode)
inline constexpr const char* kWarmNames[] = {kPreloadName, kScriptName, kPlainName, kHeapName};

}  // namespace shim
