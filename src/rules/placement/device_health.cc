#include "rules/placement/device_health.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text/number.h"

namespace trainyard::placement {
namespace {

constexpr std::array<std::uint64_t, 6> kOfPrograms = {13, 31, 43, 45, 68, 109};

struct Meaning {
  std::uint64_t xid;
  std::string_view text;
};
/// The messages that operators meet most have words; the others are named by their number.
constexpr std::array kMeanings = {
    Meaning{48, "uncorrectable memory error"},     Meaning{63, "a row of its memory was replaced"},
    Meaning{64, "its memory could not be mended"}, Meaning{74, "NVLink error"},
    Meaning{79, "it has fallen off the bus"},      Meaning{94, "contained memory error"},
    Meaning{95, "uncontained memory error"},       Meaning{119, "its firmware does not answer"},
    Meaning{120, "its firmware has failed"}};

bool IsOfHardware(std::uint64_t xid) { return std::ranges::find(kOfPrograms, xid) == kOfPrograms.end(); }

std::string Describe(std::uint64_t xid) {
  const auto known = std::ranges::find(kMeanings, xid, &Meaning::xid);
  std::string text = "it reported Xid " + std::to_string(xid);
  if (known != kMeanings.end()) text += " (" + std::string(known->text) + ")";
  return text;
}

}  // namespace

DeviceHealth NextHealth(const DeviceHealth& before, const DeviceSigns* seen) {
  if (seen == nullptr) return {.trouble = "it does not answer"};
  const auto xid = std::ranges::find_if(seen->xids, IsOfHardware);
  if (xid != seen->xids.end()) return {.trouble = Describe(*xid), .looks_left = kLooksAfterError};
  if (seen->memory_errors > 0) {
    return {.trouble = "its memory has " +
                       text::Counted(static_cast<std::int64_t>(seen->memory_errors), "uncorrectable error") +
                       "; a reset of the GPU clears them"};
  }
  if (before.looks_left > 1) return {.trouble = before.trouble, .looks_left = before.looks_left - 1};
  return {};
}

}  // namespace trainyard::placement
