// All values of event files: the same however the bytes are read, and the same values and the same damage
// whether a record is checked as a whole or walked through; none of a checked one with a wrong CRC; nothing
// lies outside of the file. The first byte says how much is read at once; what follows is one event, since
// mutations of a whole file would end at its CRCs.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "rules/measurement/event_reader.h"
#include "rules/measurement/testing/event_bytes.h"

namespace {

using namespace trainyard::measurement;

/// The values by their bytes: a NaN is not equal to itself.
struct Outcome {
  std::vector<SummaryValue> values;
  std::vector<std::uint64_t> bits;
  std::int64_t damaged = 0;
  bool lost = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome Read(const std::string& file, std::uint64_t bytes_max) {
  Outcome outcome;
  EventReader reader;
  const FileWindow::ReadAt read_at = [&file](std::uint64_t offset, std::span<char> buffer) {
    return std::string_view(file)
        .substr(std::min<std::size_t>(offset, file.size()))
        .copy(buffer.data(), buffer.size());
  };
  const auto take = [&](SummaryValue value) {
    TY_CHECK(value.extent.offset <= file.size() && value.extent.length <= file.size() - value.extent.offset);
    TY_CHECK(value.beginning.size() <= kTextShownBytes && value.tag.size() <= kTagShownBytes);
    for (double* number : {&value.value, &value.time_s})
      outcome.bits.push_back(std::bit_cast<std::uint64_t>(std::exchange(*number, 0)));
    outcome.values.push_back(std::move(value));
  };
  while (reader.Read(file.size(), bytes_max, read_at, take)) {
  }
  outcome.damaged = reader.damaged();
  outcome.lost = reader.lost();
  return outcome;
}

/// A field that no event has, to make it longer than what is checked as a whole.
std::string Padding() {
  const std::string zeros(std::size_t{1} << 16, '\0');
  return "\x7a" + std::string("\x80\x80\x04", 3) + zeros;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::uint64_t piece = 1 + data[0];
  TY_CHECK(Read(bytes, piece) == Read(bytes, bytes.size() + 1));
  const std::string next = EventBytes({"next", 1, 1, 1});
  const Outcome checked = Read(RecordBytes(bytes) + next, piece);
  TY_CHECK(!checked.lost && !checked.values.empty() && checked.values.back().tag == "next");
  static const std::string kPadding = Padding();
  Outcome walked = Read(RecordBytes(kPadding + bytes) + next, piece);
  for (SummaryValue& value : walked.values)
    if (value.extent != Extent{}) value.extent.offset -= kPadding.size();
  TY_CHECK(walked == checked);
  std::string torn = RecordBytes(bytes);
  torn.back() = static_cast<char>(torn.back() ^ 1);
  const Outcome refused = Read(torn + next, piece);
  TY_CHECK(!refused.lost && refused.damaged == 1 && refused.values.size() == 1);
  return 0;
}
