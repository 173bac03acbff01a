#include "rules/measurement/hypertune_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number.h"
#include "base/wire/json_tree.h"
#include "rules/measurement/report.h"

namespace trainyard::measurement {

namespace {

using wire::JsonValue;

constexpr std::array<std::string_view, 4> kOtherKeys = {"timestamp", "trial", "global_step",
                                                        "checkpoint_path"};
constexpr double kStepMax = 9e18;

/// Python writes NaN and Infinity without quotes, which is not JSON; with quotes it is.
std::string QuoteNonFinite(std::string_view line) {
  std::string quoted;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string_view word;
    for (const std::string_view name : {"NaN", "-Infinity", "Infinity"}) {
      if (!in_string && word.empty() && line.substr(i).starts_with(name)) word = name;
    }
    if (!word.empty()) {
      quoted.append("\"").append(word).append("\"");
      i += word.size() - 1;
      continue;
    }
    if (in_string && line[i] == '\\' && i + 1 < line.size())
      quoted += line[i++];
    else if (line[i] == '"')
      in_string = !in_string;
    quoted += line[i];
  }
  return quoted;
}

std::optional<double> NumberOf(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::kNumber && value.kind != JsonValue::Kind::kString) return std::nullopt;
  std::string_view text = value.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  return WholeNumber<double>(text);
}

std::int64_t StepOf(const JsonValue& value) {
  if (const auto step = WholeNumber<std::int64_t>(value.text)) return *step;
  const auto number = NumberOf(value);  // "1e3", "100.0"
  return number && std::abs(*number) < kStepMax ? static_cast<std::int64_t>(*number) : 0;
}

const JsonValue* Find(const JsonValue& object, std::string_view name) {
  const auto found = std::ranges::find(object.children, name, &JsonValue::name);
  return found == object.children.end() ? nullptr : &*found;
}

void ForEachValueOf(std::string_view line, const std::function<void(const HypertuneValue& value)>& take) {
  if (!line.starts_with('{')) return;
  auto report = wire::ParseJsonTree(line);
  if (!report) report = wire::ParseJsonTree(QuoteNonFinite(line));
  if (!report || report->kind != JsonValue::Kind::kObject) return;
  const JsonValue* step = Find(*report, "global_step");
  const JsonValue* time = Find(*report, "timestamp");
  for (const JsonValue& member : report->children) {
    if (std::ranges::find(kOtherKeys, member.name) != kOtherKeys.end()) continue;
    take({.tag = member.name,
          .step = step != nullptr ? StepOf(*step) : 0,
          .time_s = time != nullptr ? NumberOf(*time).value_or(0) : 0,
          .value = NumberOf(member)});
  }
}

}  // namespace

void ForEachHypertuneValue(std::string_view contents,
                           const std::function<void(const HypertuneValue& value)>& take) {
  while (!contents.empty()) {
    const std::size_t end = std::min(contents.find('\n'), contents.size());
    ForEachValueOf(contents.substr(0, end), take);
    contents.remove_prefix(std::min(end + 1, contents.size()));
  }
}

bool HypertuneFile::Read(std::string_view contents) {
  const std::size_t tags_before = seen_tags_.size();
  bool is_new = false;
  ForEachHypertuneValue(contents, [this, &is_new](const HypertuneValue& value) {
    const auto tag = value.value ? std::ranges::find(tags_, value.tag) : tags_.end();
    if (tag == tags_.end()) return NoteTag(seen_tags_, value.tag);
    Curve& curve = curves_[static_cast<std::size_t>(tag - tags_.begin())];
    is_new = curve.Add(value.step, value.time_s, *value.value) || is_new;
  });
  return is_new || seen_tags_.size() > tags_before;
}

bool HypertuneFile::Has(std::string_view tag) const {
  const auto found = std::ranges::find(tags_, tag);
  return found != tags_.end() && !curves_[static_cast<std::size_t>(found - tags_.begin())].empty();
}

void HypertuneFile::Print(replica::v1::MetricReport& report) const {
  curves_.front().Print(report);
  report.clear_further();
  for (std::size_t i = 1; i < tags_.size(); ++i) curves_[i].PrintFurther(tags_[i], report);
}

}  // namespace trainyard::measurement
