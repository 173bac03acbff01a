#include "rules/warm/learned.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>

namespace trainyard::warm {

namespace {

constexpr std::chrono::minutes kIdleMax{60};
constexpr int kShortOf = 20;  ///< the machine is short of memory if less than a 20th of it is available
constexpr std::size_t kNameMax = 100;
constexpr int kLevelsMax = 2;  ///< as sitecustomize.py writes: deeper ones may change how a package works

/// They act when they are imported, or belong to the interpreter's start.
constexpr std::array<std::string_view, 14> kLeftOut = {
    "__main__", "antigravity", "idlelib", "lib2to3",        "runpy",  "site",       "sitecustomize",
    "test",     "this",        "tkinter", "trainyard_warm", "turtle", "turtledemo", "usercustomize"};

bool IsModuleName(std::string_view name) {
  if (name.empty() || name.size() > kNameMax || name.front() == '.' || name.back() == '.') return false;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  const bool is_deep = std::ranges::count(name, '.') >= kLevelsMax;
  return std::ranges::all_of(name, is_allowed) && !name.contains("..") && !is_deep;
}

bool IsLeftOut(std::string_view name) {
  const std::string_view top = name.substr(0, name.find('.'));
  return std::ranges::find(kLeftOut, top) != kLeftOut.end() || top.starts_with("trainyard") ||
         name.ends_with(".__main__");
}

}  // namespace

std::vector<std::string> ParseModules(std::string_view note) {
  std::vector<std::string> modules;
  note = note.substr(0, kNoteBytesMax);
  while (!note.empty() && modules.size() < kModulesMax) {
    const std::size_t end = note.find('\n');
    const std::string_view name = note.substr(0, end);
    if (IsModuleName(name) && !IsLeftOut(name)) modules.emplace_back(name);
    note.remove_prefix(end == std::string_view::npos ? note.size() : end + 1);
  }
  return modules;
}

std::vector<std::string> Joined(std::vector<std::string> known, const std::vector<std::string>& learned) {
  std::set<std::string> there(known.begin(), known.end());
  for (const std::string& name : learned) {
    if (known.size() < kModulesMax && there.insert(name).second) known.push_back(name);
  }
  return known;
}

std::string PrintModules(const std::vector<std::string>& modules) {
  std::string text;
  for (const std::string& name : modules) text += name + "\n";
  return text;
}

bool IsShort(const Memory& memory) { return memory.available < memory.total / kShortOf; }

std::vector<std::size_t> MothersToEnd(std::span<const MotherUse> mothers, const Memory& memory) {
  std::vector<std::size_t> longest_idle(mothers.size());
  std::iota(longest_idle.begin(), longest_idle.end(), std::size_t{0});
  std::ranges::sort(longest_idle, std::greater<>(), [&mothers](std::size_t i) { return mothers[i].idle; });
  std::int64_t bytes = 0;
  for (const MotherUse& mother : mothers) bytes += mother.bytes;
  const bool is_short = IsShort(memory);
  std::vector<std::size_t> ends;
  for (const std::size_t i : longest_idle) {
    if (!is_short && mothers[i].idle < kIdleMax && bytes <= memory.limit) continue;
    bytes -= mothers[i].bytes;
    ends.push_back(i);
  }
  return ends;
}

}  // namespace trainyard::warm
