#include "engine/kubernetes/kube_http.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text/percent.h"
#include "engine/kubernetes/kube_watch_reader.h"

namespace trainyard::engine {

namespace {

using kubernetes::Failure;
using kubernetes::Refusal;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 20;
constexpr std::size_t kRefusalBytesMax = std::size_t{64} << 10;
constexpr milliseconds kAnswerMax{60'000};  ///< for a whole answer, however slowly it comes
constexpr milliseconds kLookMax{1'000};     ///< between two looks whether a watch is over
constexpr std::chrono::seconds kWatchMax{240};
/// A watch reports a bookmark about once a minute: one that is silent for longer may have lost its server.
constexpr std::chrono::seconds kSilenceMax{150};
constexpr int kPageSize = 500;
constexpr int kUnauthorized = 401;
constexpr std::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// PodGroups are in this part of the API from Kubernetes 1.37 on.
constexpr std::string_view kGroupsApi = "scheduling.k8s.io";
constexpr std::string_view kGroupsPath = "/apis/scheduling.k8s.io/v1beta1";
constexpr std::string_view kGroups = "podgroups";

bool IsSuccess(int status) { return status >= 200 && status < 300; }

std::unexpected<Refusal> NoAnswer(const Error& error) {
  return std::unexpected(Refusal{.failure = Failure::kNoAnswer,
                                 .words = "Kubernetes' API server does not answer: " + error.message + ".",
                                 .unblock = "It is sent again until the server answers."});
}

/// Nothing was sent.
std::unexpected<Refusal> NoLogin(const Error& error) {
  return std::unexpected(
      Refusal{.failure = Failure::kLater,
              .words = "The credentials for Kubernetes cannot be read: " + error.message + ".",
              .unblock = "Repair the kubeconfig's files or its program; they are used again."});
}

template <class T>
std::unexpected<Refusal> Forward(const KubeAnswer<T>& answer) {
  return std::unexpected(answer.error());
}

/// The parsed value; a text that cannot be read counts as no answer.
template <class T>
KubeAnswer<T> Readable(Result<T> parsed) {
  if (!parsed) return NoAnswer(parsed.error());
  return *std::move(parsed);
}

Status CheckProxy(const std::string& proxy) {
  if (proxy.empty()) return {};
  const Result<http::Endpoint> parsed = http::Endpoint::Parse(proxy);
  if (parsed && parsed->transport == http::Endpoint::Transport::kTcp) return {};
  return std::unexpected(
      FailedPrecondition("the kubeconfig's proxy-url '" + proxy +
                         "' is not supported: only http://HOST:PORT, without a name and password, or none"));
}

}  // namespace

KubeHttp::Address KubeHttp::Split(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t slash = scheme == std::string_view::npos ? scheme : url.find('/', scheme + 3);
  Address parts{.server = std::string(url.substr(0, slash))};
  if (slash != std::string_view::npos) parts.path = url.substr(slash);
  while (parts.path.ends_with('/')) parts.path.pop_back();
  return parts;
}

KubeHttp::KubeHttp(kubernetes::Access access, http::Endpoint endpoint, KubeHttpOptions options,
                   const Clock& clock)
    : server_(Split(access.server).server),
      prefix_(Split(access.server).path),
      endpoint_(std::move(endpoint)),
      name_space_(!options.name_space.empty()  ? options.name_space
                  : !access.name_space.empty() ? access.name_space
                                               : "default"),
      wait_max_(options.wait_max),
      credentials_(std::move(access), std::move(options.plugin), clock,
                   [places = std::move(options.places)] { return FindAccess(places); }) {}

Result<std::unique_ptr<KubeHttp>> KubeHttp::Make(KubeHttpOptions options, const Clock& clock) {
  TY_TRY(kubernetes::Access access, FindAccess(options.places));
  TY_TRY(http::Endpoint endpoint, http::Endpoint::Parse(Split(access.server).server));
  TY_RETURN_IF_ERROR(CheckProxy(access.proxy));
  endpoint.proxy = access.proxy;
  endpoint.tls.server_name = access.tls_server_name;
  endpoint.tls.authorities = access.authority.text;
  if (access.authority.text.empty()) endpoint.ca_file = access.authority.file;
  return std::unique_ptr<KubeHttp>(
      new KubeHttp(std::move(access), std::move(endpoint), std::move(options), clock));
}

std::string KubeHttp::TargetOf(std::string_view rest) const {
  return "/api/v1/namespaces/" + text::PercentEncode(name_space_) + "/" + std::string(rest);
}

http::ClientRequest KubeHttp::RequestOf(const Question& question, const KubeLogin& login) const {
  http::ClientRequest request{.method = question.method,
                              .target = prefix_ + question.target,
                              .body = question.body,
                              .response_bytes_max = kAnswerBytesMax,
                              .wait_max = wait_max_,
                              .response_max = kAnswerMax};
  request.headers.Set("Accept", question.accept);
  request.headers.Set("User-Agent", "trainyard");
  if (!question.body.empty()) request.headers.Set("Content-Type", "application/json");
  if (!login.token.empty()) request.headers.Set("Authorization", "Bearer " + login.token);
  return request;
}

http::Endpoint KubeHttp::EndpointFor(const KubeLogin& login) const {
  http::Endpoint endpoint = endpoint_;
  endpoint.tls.certificate = login.certificate;
  endpoint.tls.key = login.key;
  return endpoint;
}

Result<http::ClientResponse> KubeHttp::SendOnce(const Question& question, const KubeLogin& login) const {
  http::Endpoint endpoint = EndpointFor(login);
  const steady_clock::time_point now = steady_clock::now();
  std::vector<Idle> old;  // closed after the lock is released
  std::optional<http::Client> client =
      idle_.With([&](std::vector<Idle>& idle) -> std::optional<http::Client> {
        const auto kept = std::ranges::partition(
            idle, [&](const Idle& one) { return one.since + kIdleFor > now && one.tls == endpoint.tls; });
        std::ranges::move(kept, std::back_inserter(old));
        idle.erase(kept.begin(), kept.end());
        if (idle.empty()) return std::nullopt;
        http::Client found = std::move(idle.back().client);
        idle.pop_back();
        return found;
      });
  old.clear();
  if (!client) client.emplace(endpoint);
  Result<http::ClientResponse> response = client->Send(RequestOf(question, login));
  if (!response) return response;
  idle_.With([&](std::vector<Idle>& idle) {
    if (idle.size() < kIdleMax)
      idle.push_back(
          {.client = *std::move(client), .tls = std::move(endpoint.tls), .since = steady_clock::now()});
  });
  return response;
}

KubeAnswer<std::string> KubeHttp::Ask(const Question& question) const {
  for (bool is_second = false;; is_second = true) {
    const Result<KubeLogin> login = credentials_.Get();
    if (!login) return NoLogin(login.error());
    Result<http::ClientResponse> response = SendOnce(question, *login);
    if (!response) return NoAnswer(response.error());
    if (IsSuccess(response->status)) return std::move(response->body);
    if (response->status == kUnauthorized) credentials_.Refuse(*login);
    if (response->status != kUnauthorized || is_second)
      return std::unexpected(
          kubernetes::RefusalOf(response->status, response->body, response->headers.Get("Retry-After")));
  }
}

KubeAnswer<std::string> KubeHttp::ForEachPage(const Question& question, const OnPage& each) const {
  std::string next;
  while (true) {
    Question part = question;
    part.target += (part.target.contains('?') ? "&limit=" : "?limit=") + std::to_string(kPageSize);
    if (!next.empty()) part.target += "&continue=" + text::PercentEncode(next);
    const KubeAnswer<std::string> body = Ask(part);
    if (!body) return Forward(body);
    KubeAnswer<KubePage> page = Readable(ParseKubePage(*body));
    if (!page) return Forward(page);
    if (const Status taken = each(*body, *page); !taken) return NoAnswer(taken.error());
    if (page->next.empty()) return std::move(page->version);
    next = std::move(page->next);
  }
}

KubeAnswer<std::string> KubeHttp::CreateSecret(const std::string& json) const {
  const KubeAnswer<std::string> body = Ask({.method = http::Method::kPost,
                                            .target = TargetOf("secrets"),
                                            .body = json,
                                            .accept = std::string(kMetadataOnly)});
  if (!body) return Forward(body);
  KubeAnswer<KubeIdentity> identity = Readable(ParseKubeIdentity(*body));
  if (!identity) return Forward(identity);
  return std::move(identity->uid);
}

KubeAnswer<std::string> KubeHttp::FindSecret(const std::string& name) const {
  const KubeAnswer<std::string> body =
      Ask({.target = TargetOf("secrets/" + text::PercentEncode(name)), .accept = std::string(kMetadataOnly)});
  if (!body) return Forward(body);
  KubeAnswer<KubeIdentity> identity = Readable(ParseKubeIdentity(*body));
  if (!identity) return Forward(identity);
  return std::move(identity->uid);
}

KubeAnswer<void> KubeHttp::DeleteSecret(const std::string& name) const {
  return Delete(TargetOf("secrets/" + text::PercentEncode(name) + "?propagationPolicy=Background"));
}

KubeAnswer<void> KubeHttp::DeleteWorkload(const std::string& name) const {
  return Delete(WorkloadTarget(name));
}

std::string KubeHttp::WorkloadTarget(std::string_view name) const {
  return "/apis/kueue.x-k8s.io/v1beta1/namespaces/" + text::PercentEncode(name_space_) + "/workloads/" +
         text::PercentEncode(name);
}

KubeAnswer<std::string> KubeHttp::QueueWords(const std::string& name) const {
  const KubeAnswer<std::string> body = Ask({.target = WorkloadTarget(name)});
  if (!body && body.error().failure == Failure::kGone) return std::string();
  if (!body) return Forward(body);
  return Readable(ParseQueueWords(*body));
}

KubeAnswer<void> KubeHttp::Post(std::string target, const std::string& json) const {
  const KubeAnswer<std::string> body = Ask({.method = http::Method::kPost,
                                            .target = std::move(target),
                                            .body = json,
                                            .accept = std::string(kMetadataOnly)});
  if (!body) return Forward(body);
  return {};
}

KubeAnswer<void> KubeHttp::Delete(std::string target) const {
  const KubeAnswer<std::string> body = Ask({.method = http::Method::kDelete, .target = std::move(target)});
  if (!body && body.error().failure != Failure::kGone) return Forward(body);
  return {};
}

KubeAnswer<void> KubeHttp::CreatePod(const std::string& json) const { return Post(TargetOf("pods"), json); }

KubeAnswer<PodGroups> KubeHttp::FindPodGroups() const {
  const KubeAnswer<std::string> body = Ask({.target = std::string(kGroupsPath)});
  if (!body && body.error().failure == Failure::kGone) return PodGroups::kNotServed;
  if (!body) return Forward(body);
  const KubeAnswer<bool> has_groups = Readable(ParseHasResource(*body, kGroups));
  if (!has_groups) return Forward(has_groups);
  if (!*has_groups) return PodGroups::kNotServed;
  const KubeAnswer<bool> is_allowed = IsAllowed({.verb = "create", .resource = kGroups, .group = kGroupsApi});
  if (!is_allowed) return Forward(is_allowed);
  return *is_allowed ? PodGroups::kUsable : PodGroups::kNoRight;
}

KubeAnswer<void> KubeHttp::CreatePodGroup(const std::string& json) const {
  std::string target(kGroupsPath);
  target.append("/namespaces/").append(text::PercentEncode(name_space_)).append("/").append(kGroups);
  return Post(std::move(target), json);
}

KubeAnswer<PodList> KubeHttp::ListPods(const std::string& selector) const {
  PodList list;
  const auto take = [&list](std::string_view /*body*/, const KubePage& page) -> Status {
    for (const std::string& item : page.items) {
      TY_TRY(kubernetes::Pod pod, kubernetes::ParsePod(item));
      list.pods.push_back(std::move(pod));
    }
    return {};
  };
  KubeAnswer<std::string> version =
      ForEachPage({.target = TargetOf("pods?labelSelector=" + text::PercentEncode(selector))}, take);
  if (!version) return Forward(version);
  list.version = *std::move(version);
  return list;
}

KubeAnswer<std::vector<kubernetes::KubeNode>> KubeHttp::Nodes() const {
  std::vector<kubernetes::KubeNode> nodes;
  const auto take = [&nodes](std::string_view body, const KubePage& /*page*/) -> Status {
    TY_TRY(std::vector<kubernetes::KubeNode> page, kubernetes::ParseNodes(body));
    std::ranges::move(page, std::back_inserter(nodes));
    return {};
  };
  const KubeAnswer<std::string> done = ForEachPage({.target = "/api/v1/nodes"}, take);
  if (!done) return Forward(done);
  return nodes;
}

KubeAnswer<std::vector<std::string>> KubeHttp::WarningsOf(const std::string& pod) const {
  const std::string selector = "involvedObject.kind=Pod,involvedObject.name=" + pod;
  const KubeAnswer<std::string> body =
      Ask({.target = TargetOf("events?limit=" + std::to_string(kPageSize) +
                              "&fieldSelector=" + text::PercentEncode(selector))});
  if (!body) return Forward(body);
  return Readable(ParseWarnings(*body));
}

KubeAnswer<bool> KubeHttp::IsAllowed(const Right& right) const {
  const boost::json::object attributes{
      {"namespace", name_space_}, {"verb", right.verb}, {"group", right.group}, {"resource", right.resource}};
  const boost::json::object review{{"apiVersion", "authorization.k8s.io/v1"},
                                   {"kind", "SelfSubjectAccessReview"},
                                   {"spec", {{"resourceAttributes", attributes}}}};
  const KubeAnswer<std::string> body =
      Ask({.method = http::Method::kPost,
           .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
           .body = boost::json::serialize(review)});
  if (!body) return Forward(body);
  return Readable(ParseIsAllowed(*body));
}

KubeAnswer<std::vector<std::string>> KubeHttp::MissingRights() const {
  constexpr std::array<Right, 7> kNeeded{{{"create", "pods"},
                                          {"list", "pods"},
                                          {"watch", "pods"},
                                          {"create", "secrets"},
                                          {"get", "secrets"},
                                          {"delete", "secrets"},
                                          {"list", "events"}}};
  std::vector<std::string> missing;
  for (const Right& right : kNeeded) {
    const KubeAnswer<bool> is_allowed = IsAllowed(right);
    if (!is_allowed) return Forward(is_allowed);
    if (!*is_allowed) missing.push_back(std::string(right.verb) + " " + std::string(right.resource));
  }
  return missing;
}

KubeAnswer<http::ClientStream> KubeHttp::OpenStream(const Question& question) const {
  for (bool is_second = false;; is_second = true) {
    const Result<KubeLogin> login = credentials_.Get();
    if (!login) return NoLogin(login.error());
    Result<http::ClientStream> stream =
        http::ClientStream::Open(EndpointFor(*login), RequestOf(question, *login));
    if (!stream) return NoAnswer(stream.error());
    if (IsSuccess(stream->status())) return *std::move(stream);
    if (stream->status() == kUnauthorized) credentials_.Refuse(*login);
    if (stream->status() == kUnauthorized && !is_second) continue;
    std::string body;
    while (body.size() < kRefusalBytesMax) {
      const Result<std::string> more = stream->Read(wait_max_);
      if (!more || more->empty()) break;
      body += *more;
    }
    return std::unexpected(
        kubernetes::RefusalOf(stream->status(), body, stream->headers().Get("Retry-After")));
  }
}

KubeAnswer<std::string> KubeHttp::WatchPods(const std::string& selector, std::string version,
                                            const OnEvent& on_event,
                                            const std::function<bool()>& is_over) const {
  KubeAnswer<http::ClientStream> stream = OpenStream(
      {.target =
           TargetOf("pods?watch=1&allowWatchBookmarks=true&resourceVersion=" + text::PercentEncode(version) +
                    "&timeoutSeconds=" + std::to_string(kWatchMax.count()) +
                    "&labelSelector=" + text::PercentEncode(selector))});
  if (!stream) return Forward(stream);
  KubeWatchReader reader(std::move(version), on_event);
  steady_clock::time_point heard = steady_clock::now();
  while (!is_over() && steady_clock::now() - heard < kSilenceMax) {
    const Result<std::string> bytes = stream->Read(kLookMax);
    if (!bytes && bytes.error().code == Code::kDeadlineExceeded) continue;
    if (!bytes || bytes->empty()) break;  // its end, also that of the connection
    heard = steady_clock::now();
    if (const KubeAnswer<void> read = reader.Feed(*bytes); !read) return Forward(read);
  }
  return reader.version();
}

}  // namespace trainyard::engine
