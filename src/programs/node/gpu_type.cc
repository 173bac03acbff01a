#include "programs/node/gpu_type.h"

#include <vector>

namespace trainyard::node {
namespace {

constexpr std::string_view kVendor = "nvidia";
constexpr std::string_view kOriginals[] = {"k80", "p4", "p100", "v100", "t4", "a100"};

/// Lower-case runs of letters and digits.
std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> words(1);
  for (char byte : name) {
    const bool upper = byte >= 'A' && byte <= 'Z';
    const char lower = upper ? static_cast<char>(byte - 'A' + 'a') : byte;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) {
      words.back() += lower;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

std::string GpuType(std::string_view name) {
  const std::vector<std::string> words = Words(name);
  for (const std::string_view original : kOriginals) {
    for (const std::string& word : words) {
      if (word == original) return std::string("nvidia-tesla-").append(original);
    }
  }
  std::string type(kVendor);
  for (const std::string& word : words) {
    if (word != kVendor) type += "-" + word;
  }
  return type == kVendor ? type + "-gpu" : type;
}

}  // namespace trainyard::node
