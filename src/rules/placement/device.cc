#include "rules/placement/device.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/number.h"
#include "base/text/number.h"
#include "rules/placement/gang.h"

namespace trainyard::placement {
namespace {

constexpr std::string_view kFlag = "--accelerators";
constexpr int kDeclaredMax = 1024;  ///< of one type; a larger number is a typing error

bool IsTypeName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-';
  });
}

std::unexpected<Error> Wrong(std::string text) {
  return std::unexpected(InvalidArgument(kFlag, std::move(text)));
}

Result<int> ParseCount(const std::string& name, const std::string& text) {
  const int count = WholeNumber<int>(text).value_or(0);
  if (count < 1 || count > kDeclaredMax)
    return Wrong("the number of " + name + " must be between 1 and " + std::to_string(kDeclaredMax));
  return count;
}

std::string DescribeKind(std::span<const Device> devices, Device::Kind kind, std::string_view what) {
  std::vector<std::pair<std::string, int>> types;  // in order of appearance
  int all = 0;
  for (const Device& device : devices) {
    if (device.kind != kind) continue;
    ++all;
    const auto known = std::ranges::find(types, device.type, &std::pair<std::string, int>::first);
    if (known != types.end()) {
      ++known->second;
    } else {
      types.emplace_back(device.type, 1);
    }
  }
  if (all == 0) return "";
  std::string text = Counted(all, what) + " (";
  for (std::size_t i = 0; i < types.size(); ++i) {
    text += i == 0 ? "" : ", ";
    if (types.size() > 1) text += std::to_string(types[i].second) + " ";
    text += types[i].first;
  }
  return text + ")";
}

}  // namespace

std::string AcceleratorName(AcceleratorConfig::Type type) {
  std::string name = AcceleratorConfig::Type_Name(type);
  for (char& byte : name) {
    if (byte == '_') {
      byte = '-';
    } else if (byte >= 'A' && byte <= 'Z') {
      byte = static_cast<char>(byte - 'A' + 'a');
    }
  }
  return name;
}

AcceleratorConfig::Type ParseAcceleratorName(std::string_view name) {
  for (int number = 1; number <= AcceleratorConfig::Type_MAX; ++number) {
    if (!AcceleratorConfig::Type_IsValid(number)) continue;
    const auto type = static_cast<AcceleratorConfig::Type>(number);
    if (AcceleratorName(type) == name) return type;
  }
  return AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED;
}

Result<std::vector<std::pair<std::string, std::string>>> ParseNameValues(std::string_view text,
                                                                         std::string_view field) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == one.size()) {
      return std::unexpected(InvalidArgument(field, "'" + std::string(one) + "' is not NAME=VALUE"));
    }
    pairs.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (comma != std::string_view::npos && text.empty()) {
      return std::unexpected(InvalidArgument(field, "a NAME=VALUE is missing behind the last comma"));
    }
  }
  return pairs;
}

Result<std::vector<Device>> ParseDeclaredDevices(std::string_view text) {
  if (text == "none") return std::vector<Device>();
  TY_TRY(auto pairs, ParseNameValues(text, kFlag));
  if (pairs.empty()) return Wrong("it must be NAME=NUMBER,... or none");
  std::vector<Device> devices;
  int gpus = 0;
  int boards = 0;
  for (const auto& [name, value] : pairs) {
    if (!IsTypeName(name))
      return Wrong("'" + name + "' is not the name of an accelerator: nvidia-tesla-t4, tpu-v2");
    TY_TRY(int count, ParseCount(name, value));
    if (!name.starts_with("tpu-")) {
      for (int i = 0; i < count; ++i)
        devices.push_back(
            {.kind = Device::Kind::kGpu, .type = name, .id = std::to_string(gpus++), .files = {}});
      continue;
    }
    if (count % kTpuCoresPerBoard != 0)
      return Wrong("the number of " + name + " cores must be a multiple of 8");
    for (int i = 0; i < count / kTpuCoresPerBoard; ++i)
      devices.push_back(
          {.kind = Device::Kind::kTpu, .type = name, .id = std::to_string(boards++), .files = {}});
  }
  return devices;
}

std::string DescribeDevices(std::span<const Device> devices) {
  const std::string gpus = DescribeKind(devices, Device::Kind::kGpu, "GPU");
  const std::string tpus = DescribeKind(devices, Device::Kind::kTpu, "TPU");
  if (gpus.empty() && tpus.empty()) return "no accelerators";
  return gpus + (gpus.empty() || tpus.empty() ? "" : ", ") + tpus;
}

}  // namespace trainyard::placement
