#include "engine/kubernetes/kube_answers.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "base/wire/json_members.h"
#include "base/wire/time.h"

namespace trainyard::engine {

namespace {

namespace json = boost::json;
using wire::ObjectIn;
using wire::TextIn;

/// Older warnings than this, counted from the newest one, are over.
constexpr std::chrono::minutes kWarningsKept{10};

Result<json::object> ParseObject(std::string_view text) {
  std::optional<json::object> object = wire::ParseJsonObject(text);
  if (!object) return std::unexpected(DataLoss("the API server's answer is not JSON"));
  return *std::move(object);
}

struct Warning {
  SysTime time;
  std::string text;
};

/// When an event happened last: it is told in several ways.
SysTime TimeOf(const json::object& event) {
  SysTime time{};
  for (const std::string& text : {TextIn(event, "lastTimestamp"), TextIn(event, "eventTime"),
                                  TextIn(ObjectIn(event, "series"), "lastObservedTime"),
                                  TextIn(ObjectIn(event, "metadata"), "creationTimestamp")})
    time = std::max(time, wire::ParseTime(text).value_or(SysTime{}));
  return time;
}

}  // namespace

Result<KubePage> ParseKubePage(std::string_view body) {
  TY_TRY(const json::object list, ParseObject(body));
  const json::value* items = list.if_contains("items");
  // A list without elements may be null.
  if (items == nullptr || (!items->is_array() && !items->is_null()))
    return std::unexpected(DataLoss("the API server's answer is not a list"));
  const json::object& metadata = ObjectIn(list, "metadata");
  KubePage page{.version = TextIn(metadata, "resourceVersion"), .next = TextIn(metadata, "continue")};
  for (const json::value& item : wire::ListIn(list, "items")) page.items.push_back(json::serialize(item));
  return page;
}

Result<KubeIdentity> ParseKubeIdentity(std::string_view body) {
  TY_TRY(const json::object object, ParseObject(body));
  const json::object& metadata = ObjectIn(object, "metadata");
  KubeIdentity identity{.name = TextIn(metadata, "name"), .uid = TextIn(metadata, "uid")};
  if (identity.name.empty() || identity.uid.empty())
    return std::unexpected(DataLoss("the API server's answer is not an object"));
  return identity;
}

Result<KubeWatchLine> ParseWatchLine(std::string_view line) {
  TY_TRY(const json::object said, ParseObject(line));
  const std::string type = TextIn(said, "type");
  const json::object& object = ObjectIn(said, "object");
  std::string version = TextIn(ObjectIn(object, "metadata"), "resourceVersion");
  if (type == "BOOKMARK") return KubeBookmark{std::move(version)};
  if (type == "ERROR")
    return kubernetes::RefusalOf(static_cast<int>(wire::NumberIn(object, "code")), json::serialize(object),
                                 "");
  if (type != "ADDED" && type != "MODIFIED" && type != "DELETED")
    return std::unexpected(DataLoss("the API server reported an unknown event '" + type + "'"));
  TY_TRY(kubernetes::Pod pod, kubernetes::ParsePod(json::serialize(object)));
  return KubeChange{.event = {.kind = type == "DELETED" ? PodEvent::Kind::kGone : PodEvent::Kind::kChanged,
                              .pod = std::move(pod)},
                    .version = std::move(version)};
}

Result<std::vector<std::string>> ParseWarnings(std::string_view body) {
  TY_TRY(const json::object list, ParseObject(body));
  std::vector<Warning> warnings;
  for (const json::value& item : wire::ListIn(list, "items")) {
    const json::object* event = item.if_object();
    if (event == nullptr) continue;
    const std::string reason = TextIn(*event, "reason");
    if (TextIn(*event, "type") != "Warning" && reason != kTriggeredScaleUp) continue;
    warnings.push_back({.time = TimeOf(*event), .text = reason + ": " + TextIn(*event, "message")});
  }
  std::ranges::sort(warnings, std::greater(), &Warning::time);
  std::vector<std::string> texts;
  for (Warning& warning : warnings)
    if (warning.time + kWarningsKept >= warnings.front().time) texts.push_back(std::move(warning.text));
  return texts;
}

Result<std::string> ParseQueueWords(std::string_view body) {
  TY_TRY(const json::object workload, ParseObject(body));
  const json::object& status = ObjectIn(workload, "status");
  for (const json::value& item : wire::ListIn(status, "conditions")) {
    const json::object* condition = item.if_object();
    if (condition != nullptr && TextIn(*condition, "type") == "QuotaReserved" &&
        TextIn(*condition, "status") == "False")
      return TextIn(*condition, "message");
  }
  // With its quota it may wait for checks of an administrator's, as for nodes that an autoscaler adds.
  for (const json::value& item : wire::ListIn(status, "admissionChecks")) {
    const json::object* check = item.if_object();
    if (check != nullptr && TextIn(*check, "state") != "Ready")
      return "the check " + TextIn(*check, "name") + ": " + TextIn(*check, "message");
  }
  return std::string();
}

Result<bool> ParseHasResource(std::string_view body, std::string_view name) {
  TY_TRY(const json::object group, ParseObject(body));
  return std::ranges::any_of(wire::ListIn(group, "resources"), [name](const json::value& one) {
    const json::object* resource = one.if_object();
    return resource != nullptr && TextIn(*resource, "name") == name;
  });
}

Result<bool> ParseIsAllowed(std::string_view body) {
  TY_TRY(const json::object review, ParseObject(body));
  const json::object& status = ObjectIn(review, "status");
  if (!status.contains("allowed"))
    return std::unexpected(DataLoss("the API server's answer is not a review"));
  return wire::FlagIn(status, "allowed");
}

}  // namespace trainyard::engine
