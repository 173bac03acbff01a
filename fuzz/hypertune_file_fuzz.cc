// The metric file that trials' programs write: reading it again changes nothing, and after a cut one the
// whole one is read completely.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/wire/utf8.h"
#include "rules/measurement/hypertune_file.h"
#include "rules/measurement/report.h"

namespace {

using namespace trainyard::measurement;

std::string Print(const HypertuneFile& file) {
  trainyard::replica::v1::MetricReport report;
  file.Print(report);
  TY_CHECK(report.measurements_size() <= kMeasurementsMax);
  TY_CHECK(file.curves().front().empty() == report.measurements().empty());
  TY_CHECK(file.curves().back().empty() == report.further().empty());
  for (int i = 1; i < report.measurements_size(); ++i)
    TY_CHECK(report.measurements(i - 1).step() <= report.measurements(i).step());
  return report.SerializeAsString();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  HypertuneFile whole({"accuracy", "loss"});
  whole.Read(text);
  const std::string once = Print(whole);
  TY_CHECK(whole.seen_tags().size() <= kSeenTagsMax);
  for (const std::string& tag : whole.seen_tags()) TY_CHECK(trainyard::wire::IsUtf8(tag));
  whole.Read(text);
  TY_CHECK(Print(whole) == once);

  HypertuneFile torn({"accuracy", "loss"});
  torn.Read(text.substr(0, size / 2));
  torn.Read(text);
  const std::string after_a_cut = Print(torn);
  torn.Read(text);
  TY_CHECK(Print(torn) == after_a_cut);
  TY_CHECK(after_a_cut.size() >= once.size());
  return 0;
}
