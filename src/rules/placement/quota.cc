#include "rules/placement/quota.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text/suggestion.h"
#include "rules/placement/device.h"

namespace trainyard::placement {
namespace {

constexpr std::string_view kFlag = "--quota";
constexpr std::array<std::string_view, 3> kKinds{"project", "user", "serviceAccount"};
constexpr std::array<std::string_view, 5> kResources{kGpusQuota, kJobsQuota, kUnfinishedJobsQuota,
                                                     kBucketBytesQuota, kLogBytesQuota};
constexpr std::array<std::string_view, 3> kEngines{kLocalEngine, kSlurmEngine, kKubernetesEngine};
constexpr std::array<std::string_view, 1> kNoEngine{""};

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<Unit, 9> kUnits{{{"kB", 1'000},
                                      {"MB", 1'000'000},
                                      {"GB", 1'000'000'000},
                                      {"TB", 1'000'000'000'000},
                                      {"KiB", std::int64_t{1} << 10},
                                      {"MiB", std::int64_t{1} << 20},
                                      {"GiB", std::int64_t{1} << 30},
                                      {"TiB", std::int64_t{1} << 40},
                                      {"", 1}}};

std::unexpected<Error> Wrong(std::string_view text, const std::string& why) {
  return std::unexpected(InvalidArgument(kFlag, "'" + std::string(text) + "': " + why));
}

std::string Nearest(std::string_view word, std::span<const std::string_view> choices) {
  const std::string_view nearest = text::Suggest(word, choices);
  return nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?";
}

std::string List(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) list += (list.empty() ? "" : ", ") + std::string(word);
  return list;
}

bool IsBytes(std::string_view resource) {
  return resource == kBucketBytesQuota || resource == kLogBytesQuota;
}

/// Whether jobs use the resource on an engine, and wait for it.
bool IsHeld(std::string_view resource) { return !IsBytes(resource) && resource != kUnfinishedJobsQuota; }

/// The engines that count the resource.
std::span<const std::string_view> EnginesOf(std::string_view resource) {
  return IsHeld(resource) ? std::span<const std::string_view>(kEngines) : kNoEngine;
}

/// Nullopt: it is not such a number, or too large.
std::optional<std::int64_t> Number(std::string_view text, bool bytes) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest.empty()) return number;
  const auto* unit = std::ranges::find(kUnits, rest, &Unit::name);
  if (!bytes || unit == kUnits.end() || number > std::numeric_limits<std::int64_t>::max() / unit->bytes)
    return std::nullopt;
  return number * unit->bytes;
}

Status CheckSubject(std::string_view text, std::string_view subject) {
  const std::size_t colon = subject.find(':');
  const std::string_view kind = subject.substr(0, colon);
  if (std::ranges::find(kKinds, kind) == kKinds.end())
    return Wrong(text, "'" + std::string(kind) + "' is not one of " + List(kKinds) + Nearest(kind, kKinds));
  const std::string_view name = colon == std::string_view::npos ? "" : subject.substr(colon + 1);
  if (name.empty())
    return Wrong(text, "there is no name after '" + std::string(kind) + ":'; * means each one");
  if (name != "*" && name.find('*') != std::string_view::npos)
    return Wrong(text, "* stands alone: " + std::string(kind) + ":*");
  return {};
}

Status CheckResource(std::string_view text, std::string_view resource) {
  const bool known = std::ranges::find(kResources, resource) != kResources.end();
  if (known || ParseAcceleratorName(resource) != AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED) return {};
  return Wrong(text, "'" + std::string(resource) + "' is not one of " + List(kResources) +
                         " or a type such as nvidia-tesla-t4" + Nearest(resource, kResources));
}

Status CheckEngine(std::string_view text, std::string_view resource, std::string_view engine) {
  if (!IsHeld(resource))
    return Wrong(text, std::string(resource) + " are the same on all engines: leave out '@" +
                           std::string(engine) + "'");
  if (std::ranges::find(kEngines, engine) != kEngines.end()) return {};
  return Wrong(text,
               "'" + std::string(engine) + "' is not one of " + List(kEngines) + Nearest(engine, kEngines));
}

Result<QuotaLimit> ParseOne(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = text.substr(0, equals).rfind(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos)
    return Wrong(text, "not SUBJECT:RESOURCE=N, as project:research:gpus=4");
  const std::string_view subject = text.substr(0, colon);
  const std::string_view what = text.substr(colon + 1, equals - colon - 1);
  const std::string_view resource = what.substr(0, what.find('@'));
  const std::string_view engine = what.substr(std::min(resource.size() + 1, what.size()));
  TY_RETURN_IF_ERROR(CheckSubject(text, subject));
  TY_RETURN_IF_ERROR(CheckResource(text, resource));
  if (resource.size() < what.size()) TY_RETURN_IF_ERROR(CheckEngine(text, resource, engine));
  const bool bytes = IsBytes(resource);
  if (bytes && !subject.starts_with(kProjectKind))
    return Wrong(text,
                 std::string(resource) + " are a project's: project:NAME:" + std::string(resource) + "=N");
  const std::optional<std::int64_t> limit = Number(text.substr(equals + 1), bytes);
  if (!limit)
    return Wrong(text, "'" + std::string(text.substr(equals + 1)) + "' is not a number" +
                           (bytes ? " of bytes, as 1000, 10GB or 1TiB" : ""));
  return QuotaLimit{.limit = *limit,
                    .subject = std::string(subject),
                    .resource = std::string(resource),
                    .engine = std::string(engine)};
}

/// "project:*" for "project:research".
std::string EachOf(std::string_view subject) {
  return std::string(subject.substr(0, subject.find(':'))) + ":*";
}

}  // namespace

std::string ProjectSubject(std::string_view project) {
  return std::string(kProjectKind) + std::string(project);
}

std::string QuotaLimit::Text() const {
  return subject + ":" + resource + (engine.empty() ? "" : "@" + engine) + "=" + std::to_string(limit);
}

Result<Quotas> Quotas::Parse(std::span<const std::string> texts) {
  Quotas quotas;
  for (const std::string& text : texts) {
    TY_TRY(const QuotaLimit one, ParseOne(text));
    if (quotas.limits_.emplace(Key{one.subject, one.resource, one.engine}, one.limit).second) continue;
    return Wrong(text, one.subject + " has a quota of " + one.resource +
                           (one.engine.empty() ? "" : " on " + one.engine) + " already");
  }
  return quotas;
}

bool Quotas::Limits(std::string_view resource) const {
  return std::ranges::any_of(limits_, [resource](const auto& one) { return one.first.resource == resource; });
}

bool Quotas::HoldBackOn(std::string_view engine) const {
  return std::ranges::any_of(limits_, [engine](const auto& one) {
    const Key& key = one.first;
    return IsHeld(key.resource) && (key.engine.empty() || key.engine == engine);
  });
}

std::optional<QuotaLimit> Quotas::Of(std::string_view subject, std::string_view resource,
                                     std::string_view engine) const {
  if (subject.empty() || limits_.empty()) return std::nullopt;
  for (const std::string& name : {std::string(subject), EachOf(subject)}) {
    for (const std::string_view where : {engine, std::string_view()}) {
      const auto found = limits_.find({name, std::string(resource), std::string(where)});
      if (found == limits_.end()) continue;
      const auto& [key, limit] = *found;
      return QuotaLimit{
          .limit = limit, .subject = key.subject, .resource = key.resource, .engine = key.engine};
    }
  }
  return std::nullopt;
}

std::vector<QuotaLimit> Quotas::AllOf(std::string_view subject) const {
  std::map<std::pair<std::string, std::string>, QuotaLimit> applying;  // by resource and engine
  const std::string each = EachOf(subject);
  for (const auto& [key, limit] : limits_) {
    if (key.subject != subject && key.subject != each) continue;
    for (const std::string_view engine : EnginesOf(key.resource)) {
      if (auto one = Of(subject, key.resource, engine)) applying[{one->resource, one->engine}] = *one;
    }
  }
  std::vector<QuotaLimit> all;
  for (auto& [key, limit] : applying) all.push_back(std::move(limit));
  return all;
}

std::vector<QuotaLimit> Quotas::all() const {
  std::vector<QuotaLimit> all;
  for (const auto& [key, limit] : limits_)
    all.push_back({.limit = limit, .subject = key.subject, .resource = key.resource, .engine = key.engine});
  return all;
}

std::string SubjectText(std::string_view subject) {
  const std::size_t colon = subject.find(':');
  if (colon == std::string_view::npos) return std::string(subject);
  const std::string_view kind = subject.substr(0, colon);
  return (kind == "serviceAccount" ? "service account" : std::string(kind)) + " " +
         std::string(subject.substr(colon + 1));
}

std::optional<std::int64_t> ParseByteCount(std::string_view text) { return Number(text, true); }

std::string BytesText(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kNames{"bytes", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= kStep && unit + 1 < kNames.size()) {
    value /= kStep;
    ++unit;
  }
  constexpr double kTenths = 10;
  const std::int64_t tenths = std::llround(value * kTenths);
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text + " " + std::string(kNames.at(unit));
}

}  // namespace trainyard::placement
