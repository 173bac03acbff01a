#include "rules/measurement/hypertune_tags.h"

#include <utility>

#include "rules/measurement/report.h"

namespace trainyard::measurement {

using replica::v1::MetricReport;

MetricReport ReportOfTag(std::string_view tag) {
  MetricReport report;
  report.add_seen_tags(std::string(tag));
  report.set_place(std::string(kMetricFile));
  return report;
}

std::string_view TagOf(const MetricReport& report) {
  if (!report.places().empty() || report.seen_tags_size() != 1) return {};
  return report.seen_tags(0);
}

void HypertuneTags::Read(std::string_view contents) {
  ForEachHypertuneValue(contents, [this](const HypertuneValue& value) { Take(value); });
}

void HypertuneTags::Take(const HypertuneValue& value) {
  if (!value.value || value.tag.empty() || value.tag == but_) return;
  const std::string tag = ShownTag(value.tag);
  auto curve = curves_.find(tag);
  if (curve == curves_.end()) {
    if (curves_.size() >= kReportedTagsMax) return;
    curve = curves_.emplace(tag, Curve{}).first;
  }
  if (!curve->second.Add(value.step, value.time_s, *value.value)) return;
  changed_.insert(tag);
  if (value.time_s < last_s_) return;
  last_s_ = value.time_s;
  Curve only;
  only.Add(value.step, value.time_s, *value.value);
  last_ = ReportOfTag(tag);
  only.Print(last_);
}

MetricReport HypertuneTags::ReportOf(const std::string& tag) const {
  MetricReport report = ReportOfTag(tag);
  curves_.at(tag).Print(report);
  return report;
}

std::vector<MetricReport> HypertuneTags::TakeChanged() {
  std::vector<MetricReport> reports;
  for (const std::string& tag : std::exchange(changed_, {})) reports.push_back(ReportOf(tag));
  return reports;
}

std::vector<MetricReport> HypertuneTags::All() const {
  std::vector<MetricReport> reports;
  for (const auto& [tag, curve] : curves_) reports.push_back(ReportOf(tag));
  return reports;
}

}  // namespace trainyard::measurement
