#include "rules/kubernetes/refusal.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/number.h"
#include "base/wire/json_members.h"
#include "rules/kubernetes/server_words.h"

namespace trainyard::kubernetes {

namespace {

constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kGone = 410;
constexpr int kTooMany = 429;
constexpr int kServerError = 500;
constexpr int kUnavailable = 503;

/// What the server said.
struct Said {
  std::string reason{};   ///< "AlreadyExists", "Forbidden"
  std::string message{};  ///< as it is
  int retry_after_s = 0;
};

Said ReadBody(std::string_view body) {
  const std::optional<boost::json::object> status = wire::ParseJsonObject(body);
  if (!status || wire::TextIn(*status, "message").empty()) return {.message = std::string(body)};
  const std::int64_t seconds = wire::NumberIn(wire::ObjectIn(*status, "details"), "retryAfterSeconds");
  return {.reason = wire::TextIn(*status, "reason"),
          .message = wire::TextIn(*status, "message"),
          .retry_after_s =
              static_cast<int>(std::clamp<std::int64_t>(seconds, 0, std::numeric_limits<int>::max()))};
}

/// Our words, then the server's without their beginning: `pods "ty-1f3a-17-1-2-0" is forbidden: `.
std::string Sentence(std::string_view words, std::string_view message) {
  for (const std::string_view mark : {" is forbidden: ", "exceeded quota: "})
    if (const std::size_t at = message.find(mark); at != std::string_view::npos)
      message.remove_prefix(at + mark.size());
  const std::string cause = ServerWords(message);
  return std::string(words) + (cause.empty() ? "" : ": " + cause) + ".";
}

struct Row {
  std::string_view part;  ///< of the message
  Failure failure;
  std::string_view words;  ///< before the server's own
  std::string_view unblock;
};

// Answers 403; the first row that matches counts. The last one is the rest.
constexpr Row kForbiddenRows[]{
    {"exceeded quota", Failure::kLater, "The namespace's quota does not leave enough",
     "It starts when other pods of the namespace have ended, or when the quota is raised."},
    {"status unknown for quota", Failure::kLater, "Kubernetes does not know yet how much of a quota is used",
     "It is submitted again in a moment."},
    {"failed quota", Failure::kMistake, "A quota of the namespace asks for more settings than its pods have",
     "Add a LimitRange with defaults for what the quota counts, or ask the cluster's administrator."},
    {"insufficient quota to match these scopes", Failure::kMistake,
     "The namespace has no quota for pods of the priority class",
     "Change kubernetes-priority-class, or ask the cluster's administrator."},
    {"violates PodSecurity", Failure::kMistake, "The namespace's PodSecurity does not allow its pods",
     "Use a namespace whose level allows what the settings ask for; restricted allows all but "
     "`kubernetes-container-user: image` and user 0."},
    {"PriorityClass", Failure::kMistake, "The cluster does not have the priority class of the settings",
     "Change kubernetes-priority-class, or create that class."},
    {"serviceaccount \"default\" not found", Failure::kLater,
     "Kubernetes has not created the namespace's service account yet", "It is submitted again in a moment."},
    {"error looking up service account", Failure::kMistake,
     "The namespace does not have the service account of the settings",
     "Change kubernetes-service-account, or create that account."},
    {"being terminated", Failure::kMistake, "The namespace is being deleted",
     "Use another namespace (kubernetes-namespace)."},
    {" usage per ", Failure::kMistake, "A LimitRange of the namespace does not allow its pods",
     "Use a machine type of another size, or ask the cluster's administrator."},
    {" cannot ", Failure::kMistake, "The server's account lacks a right in Kubernetes",
     "`trainyard config check` prints the role that grants it."},
    {"", Failure::kMistake, "Kubernetes does not allow it",
     "Ask the cluster's administrator, or change the server's settings for Kubernetes."}};

Refusal ForbiddenBecause(const std::string& message) {
  const Row* row =
      std::ranges::find_if(kForbiddenRows, [&message](const Row& one) { return message.contains(one.part); });
  return {
      .failure = row->failure, .words = Sentence(row->words, message), .unblock = std::string(row->unblock)};
}

Refusal ConflictBecause(const Said& said) {
  if (said.reason == "AlreadyExists" || said.message.ends_with("already exists"))
    return {.failure = Failure::kThere, .words = Sentence("It exists already", said.message)};
  // Two requests have changed the same quota.
  return {.failure = Failure::kLater,
          .words = Sentence("Another request came first", said.message),
          .unblock = "It is sent again in a moment."};
}

/// Nothing was done: what had to agree first did not answer.
bool IsBeforeTheDeed(const std::string& message) {
  return message.contains("failed calling webhook") || message.contains("failed to call webhook");
}

Refusal FailedBecause(int http_status, const Said& said) {
  if (IsBeforeTheDeed(said.message))
    return {
        .failure = Failure::kLater,
        .words = Sentence("A webhook of the cluster that has to agree does not answer", said.message),
        .unblock = "It is sent again until the webhook answers; the cluster's administrator can repair it."};
  const std::string words =
      "Kubernetes' API server gave no result (status " + std::to_string(http_status) + ")";
  return {.failure = http_status == kUnavailable ? Failure::kLater : Failure::kNoAnswer,
          .words = Sentence(words, said.message),
          .unblock = "It is sent again until the server answers."};
}

Refusal Because(int http_status, const Said& said) {
  switch (http_status) {
    case kUnauthorized:
      return {.failure = Failure::kLater,
              .words = Sentence("Kubernetes does not accept the server's credentials", said.message),
              .unblock = "Renew the token or the certificate in the kubeconfig; the server reads it again."};
    case kForbidden: return ForbiddenBecause(said.message);
    case kNotFound:
      return {.failure = Failure::kGone, .words = Sentence("Kubernetes does not have it", said.message)};
    case kConflict: return ConflictBecause(said);
    case kGone:
      return {.failure = Failure::kGone,
              .words = Sentence("Kubernetes does not keep this version any more", said.message)};
    case kTooMany:
      return {.failure = Failure::kLater,
              .words = Sentence("Kubernetes' API server has too many requests", said.message),
              .unblock = "It is sent again in a moment."};
    default: break;
  }
  if (http_status >= kServerError || http_status < kBadRequest) return FailedBecause(http_status, said);
  return {.failure = Failure::kMistake,
          .words = Sentence("Kubernetes does not accept the request", said.message),
          .unblock = "Change the server's settings for Kubernetes that the message names."};
}

}  // namespace

Refusal RefusalOf(int http_status, std::string_view body, std::string_view retry_after) {
  const Said said = ReadBody(body);
  Refusal refusal = Because(http_status, said);
  refusal.retry_after_s = std::max(0, WholeNumber<int>(retry_after).value_or(said.retry_after_s));
  return refusal;
}

}  // namespace trainyard::kubernetes
