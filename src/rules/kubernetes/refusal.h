#pragma once

#include <string>
#include <string_view>

/// Why the API server did not do what was asked. Pure: any thread.
namespace trainyard::kubernetes {

enum class Failure {
  kLater,     ///< a quota, too many requests, or the server is busy: asked again later
  kMistake,   ///< the request is wrong or not allowed: it will not be accepted as it is
  kThere,     ///< the name exists already (409)
  kGone,      ///< there is no such object (404), or the version is too old (410)
  kNoAnswer,  ///< no answer, or one that cannot be read: it may have been done
};

struct Refusal {
  Failure failure = Failure::kNoAnswer;
  std::string words;      ///< one sentence, for people, with the server's own words
  std::string unblock{};  ///< one sentence: what would help; empty: not known
  int retry_after_s = 0;  ///< from the answer; 0: none
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Reads an answer whose status is not 2xx: its body is a `Status` of Kubernetes, or any text. Source: spec
/// kubernetes.md section 5: quota (403 "exceeded quota"), PodSecurity (403 "violates PodSecurity"), 422, 409,
/// 410, 429, 401.
[[nodiscard]] Refusal RefusalOf(int http_status, std::string_view body, std::string_view retry_after);

}  // namespace trainyard::kubernetes
