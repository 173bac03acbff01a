// TensorFlow's event files: the scalars are the same however the bytes arrive, and damage affects nothing
// else. The first byte says how the file is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "rules/measurement/event_scalars.h"
#include "rules/measurement/record_reader.h"
#include "rules/measurement/summaries.h"

namespace {

using namespace trainyard::measurement;

struct Outcome {
  std::vector<std::string> records;
  std::int64_t damaged = 0;
  bool lost = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome Read(std::string_view bytes, std::size_t piece) {
  Outcome outcome;
  RecordReader reader;
  const auto take = [&outcome](std::string_view record) { outcome.records.emplace_back(record); };
  const std::size_t size = bytes.size();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    reader.Feed(bytes.substr(0, piece), take);
  TY_CHECK(reader.offset() == size);
  outcome.damaged = reader.damaged();
  outcome.lost = reader.lost();
  return outcome;
}

trainyard::replica::v1::MetricReport ReadFile(std::string_view bytes, std::size_t cut) {
  Summaries summaries({"epoch_loss", "epoch_accuracy"});
  const auto read_at = [&bytes](std::uint64_t offset, std::span<char> buffer) {
    return bytes.copy(buffer.data(), buffer.size(), offset);
  };
  for (const std::size_t size : {std::min(cut, bytes.size()), bytes.size()}) {
    while (summaries.Read("gs://b", "validation/f.tfevents.1", {.id = 1, .size = size}, 1 + cut, read_at)) {
    }
  }
  return summaries.Report();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Read(bytes, std::max<std::size_t>(bytes.size(), 1));
  TY_CHECK(whole == Read(bytes, 1 + data[0]));
  std::size_t in_records = 0;
  for (const std::string& record : whole.records) in_records += record.size() + 16;
  TY_CHECK(in_records <= bytes.size());
  TY_CHECK(ReadFile(bytes, data[0]).SerializeAsString() == ReadFile(bytes, bytes.size()).SerializeAsString());
  static_cast<void>(ScalarsOf(bytes));  // events whose CRCs were not checked
  return 0;
}
