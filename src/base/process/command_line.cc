#include "base/process/command_line.h"

#include <linux/prctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <sstream>
#include <string_view>

#include "base/async/file.h"

namespace trainyard {

namespace {

/// Places of this program in memory, which fork does not change. Fields of proc_pid_stat(5), from 1 on.
struct MemoryLayout {
  std::uint64_t start_code = 0;   // 26
  std::uint64_t end_code = 0;     // 27
  std::uint64_t start_stack = 0;  // 28
  std::uint64_t start_data = 0;   // 45
  std::uint64_t end_data = 0;     // 46
  std::uint64_t start_brk = 0;    // 47
};

Result<MemoryLayout> ReadLayout() {
  constexpr std::size_t kStartCode = 26;
  constexpr std::size_t kStartData = 45;
  constexpr std::size_t kLast = 47;
  TY_TRY(const std::string text, ReadFile("/proc/self/stat"));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::unexpected(Internal("/proc/self/stat has no name"));
  std::istringstream words(text.substr(name_end + 1));
  std::array<std::uint64_t, kLast + 1> fields{};
  std::string word;
  words >> word;  // field 3: the state, a letter
  for (std::size_t i = 4; i <= kLast && words >> word; ++i)
    fields[i] = static_cast<std::uint64_t>(std::strtoull(word.c_str(), nullptr, 10));
  return MemoryLayout{.start_code = fields[kStartCode],
                      .end_code = fields[kStartCode + 1],
                      .start_stack = fields[kStartCode + 2],
                      .start_data = fields[kStartData],
                      .end_data = fields[kStartData + 1],
                      .start_brk = fields[kLast]};
}

/// Read once, also for the children that are forked later.
const Result<MemoryLayout>& Layout() {
  static const Result<MemoryLayout> layout = ReadLayout();
  return layout;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined.append(word).push_back('\0');
  return joined;
}

}  // namespace

bool KnowsMemoryLayout() { return Layout().has_value(); }

Status SetCommandLine(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
  const Result<MemoryLayout>& layout = Layout();
  if (!layout) return std::unexpected(layout.error());
  static std::string shown;  // the kernel reads it for as long as the process lives
  const std::string arguments = Joined(words);
  shown = arguments + Joined(variables);
  const auto begin = reinterpret_cast<std::uintptr_t>(shown.data());
  prctl_mm_map map{};
  map.start_code = layout->start_code;
  map.end_code = layout->end_code;
  map.start_data = layout->start_data;
  map.end_data = layout->end_data;
  map.start_brk = layout->start_brk;
  map.brk = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  map.start_stack = layout->start_stack;
  map.arg_start = begin;
  map.arg_end = begin + arguments.size();
  map.env_start = map.arg_end;
  map.env_end = begin + shown.size();
  map.exe_fd = static_cast<std::uint32_t>(-1);
  if (::prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0) return {};
  return std::unexpected(Error{Code::kUnimplemented, ErrnoError(errno, "PR_SET_MM_MAP").message, {}});
}

}  // namespace trainyard
