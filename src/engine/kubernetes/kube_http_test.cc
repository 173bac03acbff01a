#include "engine/kubernetes/kube_http.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "base/text/base64.h"
#include "engine/kubernetes/testing/fake_api_server.h"

namespace trainyard::engine {
namespace {

using kubernetes::Failure;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSecrets = "/api/v1/namespaces/jobs/secrets";
constexpr const char* kPods = "/api/v1/namespaces/jobs/pods";
constexpr const char* kPodsOfOurs = "/api/v1/namespaces/jobs/pods?labelSelector=a%3Db";
constexpr const char* kWatch =
    "GET /api/v1/namespaces/jobs/pods?watch=1&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=240"
    "&labelSelector=a%3Db";

std::string StatusText(const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","reason":")" + reason + R"(","message":")" + message + "\"}";
}

std::string PodText(const std::string& name, const std::string& version = "1") {
  return R"({"metadata":{"name":")" + name + R"(","uid":"u-)" + name + R"(","resourceVersion":")" + version +
         R"("},"status":{"phase":"Running"}})";
}

std::string EventLine(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

class KubeHttpTest : public testing::Test {
 protected:
  /// Writes the kubeconfig that the client uses.
  void WriteConfig(const std::string& server, const std::string& cluster = "",
                   const std::string& user = "token: t") {
    EXPECT_TRUE(WriteFileAtomically(
        folder_.path() + "/config",
        "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: jobs}}]\n"
        "clusters: [{name: k, cluster: {server: \"" +
            server + "\"" + cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n"));
  }
  [[nodiscard]] std::string Url(const std::string& path = "") const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + path;
  }
  [[nodiscard]] Result<std::unique_ptr<KubeHttp>> Make(std::string name_space = "") const {
    return KubeHttp::Make(
        {.places = {.kubeconfig = folder_.path() + "/config"}, .name_space = std::move(name_space)}, clock_);
  }
  /// A client of the server.
  [[nodiscard]] std::unique_ptr<KubeHttp> Client() {
    WriteConfig(Url());
    return Make().value();
  }

  TemporaryFolder folder_;
  SystemClock clock_;
  std::optional<FakeApiServer> server_{std::in_place};
};

TEST_F(KubeHttpTest, CreatesAnObjectOnce) {
  const auto client = Client();
  EXPECT_EQ(client->name_space(), "jobs");
  server_->Say(std::string("POST ") + kSecrets,
               {{.body = R"({"metadata":{"name":"s","uid":"17"}})", .status = 201},
                {.body = StatusText("AlreadyExists", "secrets \\\"s\\\" already exists"), .status = 409},
                {.body = "{}", .status = 201}});
  EXPECT_EQ(client->CreateSecret("the secret").value(), "17");
  const std::vector<FakeApiServer::Asked> asked = server_->TakeAsked();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].body, "the secret");
  EXPECT_EQ(asked[0].authorization, "Bearer t");
  EXPECT_THAT(asked[0].accept, HasSubstr("as=PartialObjectMetadata;")) << "its contents do not come back";
  EXPECT_EQ(client->CreateSecret("").error().failure, Failure::kThere);
  EXPECT_EQ(client->CreateSecret("").error().failure, Failure::kNoAnswer) << "it has no uid";

  server_->Say(std::string("GET ") + kSecrets + "/s", {{.body = R"({"metadata":{"name":"s","uid":"17"}})"}});
  EXPECT_EQ(client->FindSecret("s").value(), "17");
  EXPECT_EQ(client->FindSecret("other").error().failure, Failure::kGone);

  server_->Say(std::string("POST ") + kPods, {{.body = "{}", .status = 201}});
  EXPECT_TRUE(client->CreatePod("the pod"));
  EXPECT_EQ(server_->TakeAsked().back().body, "the pod");
}

TEST_F(KubeHttpTest, WhatIsGoneNeedsNoDelete) {
  const auto client = Client();
  const std::string question = std::string("DELETE ") + kSecrets + "/s?propagationPolicy=Background";
  server_->Say(question, {{.body = "{}"}});
  EXPECT_TRUE(client->DeleteSecret("s"));
  EXPECT_TRUE(client->DeleteSecret("other"));
  EXPECT_EQ(server_->TakeQuestions().front(), question);
  EXPECT_TRUE(client->DeleteWorkload("s"));
  EXPECT_EQ(server_->TakeQuestions().back(),
            "DELETE /apis/kueue.x-k8s.io/v1beta1/namespaces/jobs/workloads/s");
  server_->Say(question, {{.body = StatusText("Forbidden", "no"), .status = 403}});
  EXPECT_EQ(client->DeleteSecret("s").error().failure, Failure::kMistake);
}

TEST_F(KubeHttpTest, ListsPageByPage) {
  const auto client = Client();
  const std::string first = std::string("GET ") + kPodsOfOurs + "&limit=500";
  const std::string second = first + "&continue=a%2Fb%3D";
  server_->Say(first, {{.body = R"({"metadata":{"resourceVersion":"7","continue":"a/b="},"items":[)" +
                                PodText("p") + "," + PodText("q") + "]}"}});
  server_->Say(second, {{.body = R"({"metadata":{"resourceVersion":"7"},"items":[)" + PodText("r") + "]}"}});
  const KubeAnswer<PodList> list = client->ListPods("a=b");
  ASSERT_TRUE(list) << list.error().words;
  ASSERT_EQ(list->pods.size(), 3u);
  EXPECT_EQ(list->pods[0].uid, "u-p");
  EXPECT_EQ(list->pods[2].name, "r");
  EXPECT_EQ(list->version, "7");
  EXPECT_THAT(server_->TakeQuestions(), ElementsAre(first, second));

  server_->Say(second, {{.body = StatusText("Expired", "too old"), .status = 410}});
  EXPECT_EQ(client->ListPods("a=b").error().failure, Failure::kGone);
  server_->Say(first, {{.body = R"({"metadata":{},"items":null})"}, {.body = "<html>502</html>"}});
  EXPECT_THAT(client->ListPods("a=b")->pods, IsEmpty());
  EXPECT_EQ(client->ListPods("a=b").error().failure, Failure::kNoAnswer);
}

/// The names of the events' pods, with '-' for those that are gone.
std::vector<std::string> WatchAll(const KubeClient& client, KubeAnswer<std::string>& end) {
  std::vector<std::string> seen;
  const auto on_event = [&](const PodEvent& event) {
    seen.push_back((event.kind == PodEvent::Kind::kGone ? "-" : "") + event.pod.name);
  };
  end = client.WatchPods("a=b", "7", on_event, [] { return false; });
  return seen;
}

TEST_F(KubeHttpTest, WatchesUntilTheServerEndsIt) {
  const auto client = Client();
  server_->Say(
      kWatch,
      {{.body = EventLine("ADDED", PodText("p", "8")) + EventLine("MODIFIED", PodText("p", "9")) +
                EventLine("DELETED", PodText("p", "10")) +
                EventLine("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"12"}})")},
       {.body = EventLine("ADDED", PodText("q", "9")) +
                EventLine("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})")},
       {.body = StatusText("Expired", "too old"), .status = 410},
       {.body = "hello\n"},
       {.body = StatusText("TooManyRequests", "slow down"), .status = 429, .retry_after = "3"}});
  KubeAnswer<std::string> end;
  EXPECT_THAT(WatchAll(*client, end), ElementsAre("p", "p", "-p"));
  EXPECT_EQ(end.value(), "12");
  EXPECT_THAT(WatchAll(*client, end), ElementsAre("q"));
  EXPECT_EQ(end.error().failure, Failure::kGone);
  EXPECT_THAT(WatchAll(*client, end), IsEmpty());
  EXPECT_EQ(end.error().failure, Failure::kGone);
  EXPECT_THAT(WatchAll(*client, end), IsEmpty());
  EXPECT_EQ(end.error().failure, Failure::kNoAnswer);
  EXPECT_THAT(WatchAll(*client, end), IsEmpty());
  EXPECT_EQ(end.error().failure, Failure::kLater);
  EXPECT_EQ(end.error().retry_after_s, 3);
}

TEST_F(KubeHttpTest, ASilentWatchEndsWhenItIsOver) {
  const auto client = Client();
  server_->Say(kWatch, {{.body = EventLine("ADDED", PodText("p", "8")), .is_endless = true}});
  bool is_over = false;
  const KubeAnswer<std::string> end =
      client->WatchPods("a=b", "7", [&](const PodEvent&) { is_over = true; }, [&] { return is_over; });
  EXPECT_EQ(end.value(), "8");
}

TEST_F(KubeHttpTest, ConnectionsAreKept) {
  const auto client = Client();
  server_->Say(std::string("POST ") + kPods, {{.body = "{}", .status = 201}});
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(client->CreatePod("{}"));
  EXPECT_EQ(server_->connection_count(), 1u);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 12; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) EXPECT_TRUE(client->CreatePod("{}"));
      });
  }
  EXPECT_EQ(server_->TakeAsked().size(), 140u);
}

TEST_F(KubeHttpTest, ARefusedTokenIsReadAgainOnce) {
  const auto client = Client();
  WriteConfig(Url(), "", "token: new");
  server_->Say(std::string("POST ") + kPods,
               {{.body = StatusText("Unauthorized", "Unauthorized"), .status = 401},
                {.body = "{}", .status = 201},
                {.body = StatusText("Unauthorized", "Unauthorized"), .status = 401}});
  EXPECT_TRUE(client->CreatePod("{}"));
  std::vector<FakeApiServer::Asked> asked = server_->TakeAsked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].authorization, "Bearer t");
  EXPECT_EQ(asked[1].authorization, "Bearer new");
  EXPECT_EQ(client->CreatePod("{}").error().failure, Failure::kLater);
  EXPECT_EQ(server_->TakeAsked().size(), 2u);
}

TEST_F(KubeHttpTest, SaysWhatToDoNext) {
  const auto client = Client();
  server_->Say(std::string("POST ") + kPods,
               {{.body = StatusText("TooManyRequests", "busy"), .status = 429, .retry_after = "7"}});
  EXPECT_EQ(client->CreatePod("{}").error().failure, Failure::kLater);
  EXPECT_EQ(client->CreatePod("{}").error().retry_after_s, 7);
  server_.reset();
  const KubeAnswer<void> lost = client->CreatePod("{}");
  EXPECT_EQ(lost.error().failure, Failure::kNoAnswer);
  EXPECT_THAT(lost.error().words,
              HasSubstr("Kubernetes' API server does not answer: cannot connect to 127.0.0.1"));
}

TEST_F(KubeHttpTest, CredentialsThatCannotBeReadAreNoMistakeOfTheJob) {
  WriteConfig(Url(), "", "tokenFile: nowhere");
  const KubeAnswer<void> answer = Make().value()->CreatePod("{}");
  EXPECT_EQ(answer.error().failure, Failure::kLater);
  EXPECT_THAT(answer.error().words, HasSubstr("The credentials for Kubernetes cannot be read"));
}

TEST_F(KubeHttpTest, PodGroups) {
  const auto client = Client();
  EXPECT_EQ(client->FindPodGroups().value(), PodGroups::kNotServed);
  const std::string path = "/apis/scheduling.k8s.io/v1beta1";
  server_->Say("GET " + path, {{.body = R"({"resources":[{"name":"workloads"}]})"},
                               {.body = R"({"resources":[{"name":"workloads"},{"name":"podgroups"}]})"}});
  server_->Say("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
               {{.body = R"({"status":{"allowed":false}})", .status = 201},
                {.body = R"({"status":{"allowed":true}})", .status = 201}});
  EXPECT_EQ(client->FindPodGroups().value(), PodGroups::kNotServed);
  EXPECT_EQ(client->FindPodGroups().value(), PodGroups::kNoRight);
  EXPECT_EQ(client->FindPodGroups().value(), PodGroups::kUsable);
  EXPECT_THAT(server_->TakeAsked().back().body,
              HasSubstr(R"("verb":"create","group":"scheduling.k8s.io","resource":"podgroups")"));
  server_->Say("POST " + path + "/namespaces/jobs/podgroups", {{.body = "{}", .status = 201}});
  EXPECT_TRUE(client->CreatePodGroup("the group"));
  EXPECT_EQ(server_->TakeAsked().back().body, "the group");
}

TEST_F(KubeHttpTest, AQueueSaysWhyItHasNotAdmitted) {
  const auto client = Client();
  const std::string path = "/apis/kueue.x-k8s.io/v1beta1/namespaces/jobs/workloads/ty-1-2-3";
  EXPECT_EQ(client->QueueWords("ty-1-2-3").value(), "") << "it has not seen the pods yet";
  server_->Say(
      "GET " + path,
      {{.body =
            R"({"status":{"conditions":[{"type":"QuotaReserved","status":"False","reason":"Inadmissible",)"
            R"("message":"LocalQueue nowhere doesn't exist"}]}})"},
       {.body = R"({"status":{"conditions":[{"type":"QuotaReserved","status":"True","message":"yes"}],)"
                R"("admissionChecks":[{"name":"nodes","state":"Pending","message":"asked for 2"}]}})"},
       {.body = R"({"status":{"conditions":[{"type":"QuotaReserved","status":"True","message":"yes"}]}})"},
       {.body = StatusText("Forbidden", "no"), .status = 403}});
  EXPECT_EQ(client->QueueWords("ty-1-2-3").value(), "LocalQueue nowhere doesn't exist");
  EXPECT_EQ(client->QueueWords("ty-1-2-3").value(), "the check nodes: asked for 2");
  EXPECT_EQ(client->QueueWords("ty-1-2-3").value(), "");
  EXPECT_EQ(client->QueueWords("ty-1-2-3").error().failure, Failure::kMistake);
}

TEST_F(KubeHttpTest, RightsNodesAndWarnings) {
  const auto client = Client();
  const std::string review = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  server_->Say(review, {{.body = R"({"status":{"allowed":true}})", .status = 201},
                        {.body = R"({"status":{"allowed":false}})", .status = 201},
                        {.body = R"({"status":{"allowed":true}})", .status = 201}});
  EXPECT_THAT(client->MissingRights().value(), ElementsAre("list pods"));
  EXPECT_EQ(server_->TakeAsked()[0].body,
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":)"
            R"({"resourceAttributes":{"namespace":"jobs","verb":"create","group":"","resource":"pods"}}})");
  server_->Say("GET /api/v1/nodes?limit=500",
               {{.body = StatusText("Forbidden", "nodes is forbidden"), .status = 403}});
  EXPECT_EQ(client->Nodes().error().failure, Failure::kMistake);
  server_->Say(
      "GET /api/v1/namespaces/jobs/"
      "events?limit=500&fieldSelector=involvedObject.kind%3DPod%2CinvolvedObject.name%3Dp",
      {{.body = R"({"items":[
 {"type":"Warning","reason":"FailedMount","message":"no","lastTimestamp":"2026-11-30T10:00:00Z"},
 {"type":"Normal","reason":"Scheduled","message":"done","lastTimestamp":"2026-11-30T10:00:01Z"},
 {"type":"Normal","reason":"TriggeredScaleUp","message":"2->3","eventTime":"2026-11-30T10:01:00.5Z"},
 {"type":"Warning","reason":"Old","message":"x","lastTimestamp":null,
  "metadata":{"creationTimestamp":"2026-11-30T09:50:00Z"}}]})"}});
  EXPECT_THAT(client->WarningsOf("p").value(), ElementsAre("TriggeredScaleUp: 2->3", "FailedMount: no"));
}

TEST_F(KubeHttpTest, TrustsTheAuthorityOfTheKubeconfig) {
  const tls::TlsIdentity identity =
      tls::EnsureTlsIdentity(folder_.path() + "/tls", {"kubernetes"}, clock_.Now()).value();
  server_.emplace(&identity);
  server_->Say("GET /k8s/c-1/api/v1/nodes?limit=500", {{.body = R"({"kind":"NodeList","items":[]})"}});
  const std::string url = "https://127.0.0.1:" + std::to_string(server_->port()) + "/k8s/c-1/";
  const std::string authority = ReadFile(identity.ca_file).value();
  for (const std::string& cluster :
       {", certificate-authority-data: " + text::Base64(authority),
        std::string(", certificate-authority: tls/ca.pem"),
        std::string(", certificate-authority: tls/ca.pem, tls-server-name: kubernetes")}) {
    WriteConfig(url, cluster);
    const auto client = Make().value();
    const KubeAnswer<std::vector<kubernetes::KubeNode>> nodes = client->Nodes();
    EXPECT_TRUE(nodes) << cluster << ": " << nodes.error().words;
    EXPECT_EQ(client->server(), url.substr(0, url.find("/k8s")));
  }
  WriteConfig(url);
  EXPECT_THAT(Make().value()->Nodes().error().words, HasSubstr("certificate is not trusted"));
}

TEST_F(KubeHttpTest, TheNamespaceIsThatOfTheSetting) {
  WriteConfig(Url());
  EXPECT_EQ(Make("other").value()->name_space(), "other");
}

TEST_F(KubeHttpTest, AProxyThatIsNotSupportedIsRefusedAtTheStart) {
  for (const char* proxy : {"socks5://127.0.0.1:1", "https://127.0.0.1:1", "http://a:b@h:1"}) {
    WriteConfig("https://127.0.0.1:1", std::string(", proxy-url: \"") + proxy + "\"");
    const auto client = Make();
    ASSERT_FALSE(client) << proxy;
    EXPECT_EQ(client.error().code, Code::kFailedPrecondition);
    EXPECT_THAT(client.error().message, HasSubstr("only http://HOST:PORT"));
  }
}

}  // namespace
}  // namespace trainyard::engine
