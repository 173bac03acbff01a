#include "rules/kubernetes/refusal.h"

#include <gmock/gmock.h>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace trainyard::kubernetes::refusal_test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The body of an answer of the API server.
std::string StatusBody(std::string_view reason, std::string_view message) {
  return boost::json::serialize(boost::json::object{{"kind", "Status"},
                                                    {"apiVersion", "v1"},
                                                    {"status", "Failure"},
                                                    {"message", message},
                                                    {"reason", reason}});
}

struct Row {
  const char* name;
  int status;
  const char* reason;
  const char* message;
  Failure failure;
  const char* words;  ///< a part of the sentence
};
class RefusalOfAnAnswer : public testing::TestWithParam<Row> {};
TEST_P(RefusalOfAnAnswer, SaysWhatToDo) {
  const Row& row = GetParam();
  const Refusal refusal = RefusalOf(row.status, StatusBody(row.reason, row.message), "");
  EXPECT_EQ(refusal.failure, row.failure) << refusal.words;
  EXPECT_THAT(refusal.words, HasSubstr(row.words));
  EXPECT_THAT(refusal.words, Not(HasSubstr("..")));
  EXPECT_TRUE(refusal.words.ends_with('.')) << refusal.words;
  const bool is_of_the_object = refusal.failure == Failure::kThere || refusal.failure == Failure::kGone;
  EXPECT_EQ(refusal.unblock.empty(), is_of_the_object);
}
INSTANTIATE_TEST_SUITE_P(
    Answers, RefusalOfAnAnswer,
    testing::Values(
        Row{"quota", 403, "Forbidden",
            "pods \"u\" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=4, used: "
            "requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=3",
            Failure::kLater, "The namespace's quota does not leave enough: team, requested: "},
        Row{"quota_wants_more", 403, "Forbidden",
            "pods \"u\" is forbidden: failed quota: team: must specify limits.cpu for: agent",
            Failure::kMistake, "must specify limits.cpu"},
        Row{"quota_in_a_race", 409, "Conflict",
            "Operation cannot be fulfilled on resourcequotas \"team\": the object has been modified; please "
            "apply your changes to the latest version and try again",
            Failure::kLater, "Another request came first"},
        Row{"pod_security", 403, "Forbidden",
            "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": host namespaces "
            "(hostNetwork=true)",
            Failure::kMistake,
            "PodSecurity does not allow its pods: violates PodSecurity \"restricted:latest\""},
        Row{"priority_class", 403, "Forbidden",
            "pods \"x\" is forbidden: no PriorityClass with name nothere was found", Failure::kMistake,
            "nothere"},
        Row{"service_account", 403, "Forbidden",
            "pods \"x\" is forbidden: error looking up service account default/nothere: serviceaccount "
            "\"nothere\" not found",
            Failure::kMistake, "the service account of the settings"},
        Row{"new_namespace", 403, "Forbidden",
            "pods \"x\" is forbidden: error looking up service account a/default: serviceaccount \"default\" "
            "not found",
            Failure::kLater, "yet"},
        Row{"rights", 403, "Forbidden",
            "pods is forbidden: User \"u\" cannot create resource \"pods\" in API group \"\" in the "
            "namespace "
            "\"a\"",
            Failure::kMistake, "lacks a right in Kubernetes: User \"u\" cannot create resource \"pods\""},
        Row{"limit_range", 403, "Forbidden",
            "pods \"x\" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi",
            Failure::kMistake, "LimitRange"},
        Row{"name_is_there", 409, "AlreadyExists", "pods \"ty-1f3a-17-1-2-0\" already exists",
            Failure::kThere, "already exists"},
        Row{"invalid", 422, "Invalid",
            "Pod \"x\" is invalid: spec.containers[0].resources.limits[nvidia.com/gpu]: Required value: "
            "Limit "
            "must be set for non overcommitable resources",
            Failure::kMistake, "Limit must be set"},
        Row{"no_object", 404, "NotFound", "pods \"x\" not found", Failure::kGone, "not found"},
        Row{"old_version", 410, "Expired", "too old resource version: 1 (2)", Failure::kGone, "too old"},
        Row{"credentials", 401, "Unauthorized", "Unauthorized", Failure::kLater,
            "credentials: Unauthorized."},
        Row{"busy", 429, "TooManyRequests", "too many requests, please try again later", Failure::kLater,
            "too many requests"},
        Row{"etcd", 500, "InternalError", "etcdserver: request timed out", Failure::kNoAnswer,
            "(status 500)"},
        Row{"webhook", 500, "InternalError",
            "Internal error occurred: failed calling webhook \"w\": connection refused", Failure::kLater,
            "webhook"},
        Row{"starting", 503, "ServiceUnavailable", "apiserver not ready", Failure::kLater, "not ready"},
        Row{"gateway", 504, "Timeout", "request did not complete within the allotted timeout",
            Failure::kNoAnswer, "(status 504)"}),
    [](const auto& row) { return row.param.name; });

TEST(Refusal, SaysHowLongToWait) {
  const std::string body = R"({"kind":"Status","message":"later","details":{"retryAfterSeconds":7}})";
  EXPECT_EQ(RefusalOf(429, body, "").retry_after_s, 7);
  EXPECT_EQ(RefusalOf(429, body, "3").retry_after_s, 3) << "the header is the server's word";
  EXPECT_EQ(RefusalOf(429, body, "Fri, 31 Dec 1999 23:59:59 GMT").retry_after_s, 7);
  EXPECT_EQ(RefusalOf(429, "", "-1").retry_after_s, 0);
}

TEST(Refusal, ReadsAnswersThatAreNoStatus) {
  EXPECT_EQ(
      RefusalOf(502, "<html>\nBad Gateway</html>", ""),
      (Refusal{.failure = Failure::kNoAnswer,
               .words = "Kubernetes' API server gave no result (status 502): <html> Bad Gateway</html>.",
               .unblock = "It is sent again until the server answers."}));
  EXPECT_EQ(RefusalOf(0, "", "").words, "Kubernetes' API server gave no result (status 0).");
  EXPECT_EQ(RefusalOf(422, "\xff[]", "").failure, Failure::kMistake);
  EXPECT_LT(RefusalOf(500, std::string(100'000, 'x'), "").words.size(), 600U);
}

}  // namespace
}  // namespace trainyard::kubernetes::refusal_test
