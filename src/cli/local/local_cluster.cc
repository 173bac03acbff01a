#include "cli/local/local_cluster.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "base/text/json_string.h"

namespace trainyard::cli {
namespace {

constexpr char32_t kBmpEnd = 0x10000;
/// Python's "surrogateescape": a byte that is not UTF-8 becomes this plus the byte.
constexpr char32_t kEscapedByte = 0xDC00;

/// How many bytes behind the first belong to it, or -1 if it begins nothing.
int Followers(unsigned char first) {
  if (first < 0x80) return 0;
  if (first >= 0xC2 && first < 0xE0) return 1;
  if (first >= 0xE0 && first < 0xF0) return 2;
  if (first >= 0xF0 && first < 0xF5) return 3;
  return -1;
}

/// Removes one character from the front. A byte that is not UTF-8 counts as one.
char32_t Take(std::string_view& bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  const int followers = Followers(first);
  constexpr std::array<char32_t, 4> kSmallest{0, 0x80, 0x800, kBmpEnd};
  if (followers >= 0 && bytes.size() > static_cast<std::size_t>(followers)) {
    char32_t code = followers == 0 ? first : first & (0x3FU >> static_cast<unsigned>(followers));
    bool good = true;
    for (int i = 1; i <= followers; ++i) {
      const auto next = static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
      good = good && (next & 0xC0U) == 0x80;
      code = code << 6U | (next & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (good && !surrogate && code >= kSmallest.at(static_cast<std::size_t>(followers)) && code < 0x110000) {
      bytes.remove_prefix(static_cast<std::size_t>(followers) + 1);
      return code;
    }
  }
  bytes.remove_prefix(1);
  return kEscapedByte + first;
}

std::string Escaped(char32_t code) {
  if (code < 0x80) return text::EscapeJson(std::string(1, static_cast<char>(code)));
  if (code < kBmpEnd) return text::JsonCode(static_cast<char16_t>(code));
  const char32_t rest = code - kBmpEnd;
  return text::JsonCode(static_cast<char16_t>(0xD800 + (rest >> 10U))) +
         text::JsonCode(static_cast<char16_t>(0xDC00 + (rest & 0x3FFU)));
}

std::string Addresses(int first_port, int count) {
  std::string list = "[";
  for (int i = 0; i < count; ++i)
    list += (i == 0 ? "" : ", ") + PythonJsonString("localhost:" + std::to_string(first_port + i));
  return list + "]";
}

std::string Config(const std::string& module, const std::vector<std::string>& args, const std::string& task,
                   const std::string& cluster) {
  std::string list;
  for (const std::string& arg : args) list += (list.empty() ? "" : ", ") + PythonJsonString(arg);
  return R"({"job": {"job_name": )" + PythonJsonString(module) + R"(, "args": [)" + list +
         R"(]}, "task": {)" + task + R"(}, "cluster": {)" + cluster + R"(}, "environment": "cloud"})";
}

}  // namespace

std::vector<LocalTask> Tasks(const LocalCluster& cluster) {
  std::vector<LocalTask> tasks;
  for (int i = 0; i < cluster.parameter_servers; ++i) tasks.push_back({"ps", i});
  for (int i = 0; i < cluster.workers; ++i) tasks.push_back({"worker", i});
  for (int i = 0; i < cluster.evaluators; ++i) tasks.push_back({"evaluator", i});
  tasks.push_back({cluster.primary, 0});
  return tasks;
}

std::string LocalTfConfig(const LocalCluster& cluster, const LocalTask& task, const std::string& module,
                          const std::vector<std::string>& args) {
  const int port = cluster.start_port;
  return Config(module, args,
                R"("type": )" + PythonJsonString(task.type) + R"(, "index": )" + std::to_string(task.index),
                PythonJsonString(cluster.primary) + ": " + Addresses(port, 1) + R"(, "ps": )" +
                    Addresses(port + 1, cluster.parameter_servers) + R"(, "worker": )" +
                    Addresses(port + 1 + cluster.parameter_servers, cluster.workers));
}

std::string LocalTfConfig(const std::string& module, const std::vector<std::string>& args) {
  return Config(module, args, "", "");
}

std::string PythonJsonString(std::string_view bytes) {
  std::string text = "\"";
  while (!bytes.empty()) text += Escaped(Take(bytes));
  return text + "\"";
}

}  // namespace trainyard::cli
