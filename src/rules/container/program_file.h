#pragma once

#include <functional>
#include <string>
#include <string_view>

/// Pure: any thread.
namespace trainyard::container {

/// As much of a program's file as its checks look at.
inline constexpr std::size_t kBeginningBytes = 4096;

/// Why this machine's kernel does not run an executable file that begins so: it is built for another kind of
/// machine, the interpreter or loader that it names is missing, or it is no program at all. Empty: nothing is
/// wrong with its beginning. `has_file`: whether the image has the file. Source: elf(5), execve(2).
[[nodiscard]] std::string WhyNotRunnable(std::string_view beginning,
                                         const std::function<bool(const std::string& path)>& has_file);

}  // namespace trainyard::container
