#include "programs/runtimes/daemon_api.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "base/text/percent.h"
#include "net/http/client.h"
#include "net/http/client_stream.h"

namespace trainyard::replica {

namespace {

using http::Method;
using std::chrono::milliseconds;

const std::string kVersion = "/v1.41";
/// A pull or load without output for this long counts as stuck.
constexpr milliseconds kPullSilenceMax = std::chrono::minutes(10);
/// A wait for a container is repeated after this time: a connection may be lost without notice.
constexpr milliseconds kWaitRound = std::chrono::minutes(10);
/// Callers that remove containers try again, and others may wait for their thread.
constexpr milliseconds kRemoveWaitMax = std::chrono::seconds(10);
constexpr std::size_t kProgressLineMax = std::size_t{1} << 20;

http::Endpoint EndpointOf(const std::string& socket) {
  http::Endpoint endpoint;
  endpoint.transport = http::Endpoint::Transport::kUnix;
  endpoint.host = "localhost";
  endpoint.socket_path = socket;
  return endpoint;
}

bool IsSuccess(int status) { return status >= 200 && status < 300; }

/// Escapes a part of a URL's path or query, except '/', which names of images contain.
std::string Escape(std::string_view text) { return text::PercentEncode(text, "/"); }

std::string Container(const std::string& name) { return "/containers/" + Escape(name); }

/// "a=b" as the value of GET containers/json's filters.
std::string LabelFilter(const std::string& label) { return Escape("{\"label\":[\"" + label + "\"]}"); }

}  // namespace

DaemonApi::DaemonApi(std::string socket)
    : socket_(std::move(socket)), client_(std::make_unique<http::Client>(EndpointOf(socket_))) {}
DaemonApi::~DaemonApi() = default;
DaemonApi::DaemonApi(DaemonApi&&) noexcept = default;
DaemonApi& DaemonApi::operator=(DaemonApi&&) noexcept = default;

/// Explains the error of a call without an answer by the state of the socket.
Error DaemonApi::Explain(Error error) const {
  struct stat found{};
  if (stat(socket_.c_str(), &found) != 0 && errno == ENOENT)
    return NotFound("there is no container engine: " + socket_ + " does not exist");
  if (access(socket_.c_str(), R_OK | W_OK) != 0 && errno == EACCES) {
    return {Code::kPermissionDenied,
            "this user may not use the container engine: " + socket_ +
                " cannot be opened (Docker: add the user to the group docker)",
            {}};
  }
  if (error.code == Code::kDeadlineExceeded)
    return Unavailable("the container engine at " + socket_ + " does not answer");
  if (error.code == Code::kUnavailable || error.code == Code::kDataLoss)
    return Unavailable("the container engine at " + socket_ + " is not there: " + error.message);
  error.message = "the container engine at " + socket_ + ": " + error.message;
  return error;
}

Result<DaemonApi::Answer> DaemonApi::Call(Method method, const std::string& target, std::string body,
                                          milliseconds wait_max) {
  http::ClientRequest request;
  request.method = method;
  request.target = kVersion + target;
  if (!body.empty()) request.headers.Add("Content-Type", "application/json");
  request.body = std::move(body);
  request.wait_max = wait_max;
  auto response = client_->Send(std::move(request));
  if (!response) return std::unexpected(Explain(std::move(response).error()));
  return Answer{.status = response->status, .body = std::move(response->body)};
}

Result<DaemonImage> DaemonApi::InspectImage(const std::string& name) {
  TY_TRY(const Answer answer, Call(Method::kGet, "/images/" + Escape(name) + "/json"));
  if (answer.status != 200)
    return std::unexpected(DaemonError("cannot find the image " + name, answer.status, answer.body));
  return ParseDaemonImage(answer.body);
}

/// Sends a POST that is answered with a line of JSON for each event; the last one may be the error.
Status DaemonApi::Progress(const std::string& target, const std::string& auth, std::string_view what,
                           const ProgressSink& progress) {
  http::ClientRequest request;
  request.method = Method::kPost;
  request.target = kVersion + target;
  if (!auth.empty()) request.headers.Add("X-Registry-Auth", auth);
  request.wait_max = kPullSilenceMax;
  auto opened = http::ClientStream::Open(EndpointOf(socket_), request);
  if (!opened) return std::unexpected(Explain(std::move(opened).error()));
  std::string text;
  std::string failure;
  for (;;) {
    auto bytes = opened->Read(kPullSilenceMax);
    if (!bytes) return std::unexpected(Explain(std::move(bytes).error()));
    if (bytes->empty()) break;
    text += *bytes;
    if (!IsSuccess(opened->status())) continue;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      DaemonProgress step = ParseDaemonProgress(std::string_view(text).substr(0, end));
      if (!step.line.empty()) progress(step.line);
      if (!step.error.empty()) failure = std::move(step.error);
    }
    if (text.size() > kProgressLineMax) text.clear();
  }
  if (!IsSuccess(opened->status())) return std::unexpected(DaemonError(what, opened->status(), text));
  if (!failure.empty()) return std::unexpected(DaemonError(what, 500, failure));
  return {};
}

Status DaemonApi::PullImage(const std::string& reference, const std::string& auth,
                            const ProgressSink& progress) {
  const SplitReference split = Split(reference);
  return Progress("/images/create?fromImage=" + Escape(split.name) + "&tag=" + Escape(split.tag), auth,
                  "cannot pull " + reference, progress);
}

Status DaemonApi::LoadImage(int archive, const ProgressSink& progress) {
  struct stat found{};
  if (fstat(archive, &found) != 0) return std::unexpected(ErrnoError(errno, "stat the image's archive"));
  http::ClientRequest request;
  request.method = Method::kPost;
  request.target = kVersion + "/images/load?quiet=1";
  request.headers.Add("Content-Type", "application/x-tar");
  request.body = http::UploadBody{.descriptor = archive, .length = static_cast<std::uint64_t>(found.st_size)};
  request.wait_max = kPullSilenceMax;
  auto response = client_->Send(std::move(request));
  if (!response) return std::unexpected(Explain(std::move(response).error()));
  if (!IsSuccess(response->status))
    return std::unexpected(DaemonError("cannot load the image", response->status, response->body));
  const DaemonProgress said = ParseDaemonProgress(response->body);
  if (!said.error.empty()) return std::unexpected(DaemonError("cannot load the image", 500, said.error));
  if (!said.line.empty()) progress(said.line);
  return {};
}

Result<GpuWay> DaemonApi::FindGpuWay(bool cdi_found) {
  TY_TRY(const Answer info, Call(Method::kGet, "/info"));
  TY_TRY(const Answer version, Call(Method::kGet, "/version"));
  return ParseGpuWay(info.body, version.body, cdi_found);
}

Status DaemonApi::Create(const std::string& name, const std::string& body) {
  TY_TRY(const Answer answer, Call(Method::kPost, "/containers/create?name=" + Escape(name), body));
  if (IsSuccess(answer.status)) return {};
  return std::unexpected(DaemonError("cannot create the container", answer.status, answer.body));
}

Status DaemonApi::Start(const std::string& name) {
  const auto answer = Call(Method::kPost, Container(name) + "/start");
  if (!answer) return std::unexpected(Error{Code::kUnknown, answer.error().message, {}});
  if (IsSuccess(answer->status) || answer->status == 304) return {};
  const Error error = DaemonError("cannot start the container", answer->status, answer->body);
  if (error.code != Code::kFailedPrecondition) return std::unexpected(error);
  return std::unexpected(DaemonError("the container's program cannot be run", answer->status, answer->body));
}

Result<http::ClientStream> DaemonApi::Open(const std::string& target) {
  http::ClientRequest request;
  request.method = Method::kPost;
  request.target = kVersion + target;
  auto opened = http::ClientStream::Open(EndpointOf(socket_), request);
  if (!opened) return std::unexpected(Explain(std::move(opened).error()));
  return opened;
}

Result<http::ClientStream> DaemonApi::Attach(const std::string& name) {
  TY_TRY(http::ClientStream opened, Open(Container(name) + "/attach?stream=1&stdout=1&stderr=1"));
  if (IsSuccess(opened.status())) return opened;
  const auto body = opened.Read(std::chrono::seconds(10));
  return std::unexpected(
      DaemonError("cannot read the container's output", opened.status(), body ? *body : std::string()));
}

Result<http::ClientStream> DaemonApi::AttachAndStart(const std::string& name) {
  auto output = Attach(name);
  // podman creates the container's process when attaching; starting gives a shorter message if that fails.
  TY_RETURN_IF_ERROR(Start(name));
  if (!output) return std::unexpected(Error{Code::kUnknown, output.error().message, {}});
  return output;
}

Result<http::ClientStream> DaemonApi::OpenWait(const std::string& name) {
  // The daemon sends the answer's head at once, and its body when the container has ended.
  return Open(Container(name) + "/wait");
}

Result<ContainerState> DaemonApi::ReadEnd(http::ClientStream& wait, const std::string& name) {
  std::string text;
  for (;;) {
    const auto bytes = wait.Read(kWaitRound);
    if (!bytes && bytes.error().code == Code::kDeadlineExceeded) continue;  // it runs
    if (!bytes)
      return std::unexpected(
          Unavailable("the connection to the container engine was lost: " + bytes.error().message));
    if (bytes->empty()) break;
    text += *bytes;
    if (text.size() > kProgressLineMax) break;
  }
  if (!IsSuccess(wait.status()))
    return std::unexpected(DaemonError("cannot wait for the container", wait.status(), text));
  const auto status = ParseWaitStatus(text);
  if (!status) return std::unexpected(Unavailable("the container engine does not know how it ended"));
  TY_TRY(ContainerState state, Inspect(name));  // says more than the answer
  if (state.running) return Wait(name);
  state.exit_code = *status;  // podman's own state may be behind for a moment
  return state;
}

Result<ContainerState> DaemonApi::Wait(const std::string& name) {
  for (;;) {
    auto answer = Call(Method::kPost, Container(name) + "/wait", {}, kWaitRound);
    if (answer && !IsSuccess(answer->status))
      return std::unexpected(DaemonError("cannot wait for the container", answer->status, answer->body));
    TY_TRY(ContainerState state, Inspect(name));  // says more than the answer, which may have been lost
    // podman's own state may be outdated for a moment: it has exit code 0 for a container that has just
    // ended.
    if (const auto status = answer ? ParseWaitStatus(answer->body) : std::nullopt; status && !state.running)
      state.exit_code = *status;
    if (!state.running) return state;
    if (answer) continue;
    if (answer.error().code != Code::kUnavailable) return std::unexpected(std::move(answer).error());
  }
}

Result<ContainerState> DaemonApi::Inspect(const std::string& name) {
  TY_TRY(const Answer answer, Call(Method::kGet, Container(name) + "/json"));
  if (IsSuccess(answer.status)) return ParseContainerState(answer.body);
  return std::unexpected(DaemonError("cannot look at the container", answer.status, answer.body));
}

Status DaemonApi::Signal(const std::string& name, const std::string& signal) {
  TY_TRY(const Answer answer, Call(Method::kPost, Container(name) + "/kill?signal=" + Escape(signal)));
  if (IsSuccess(answer.status) || answer.status == 404 || answer.status == 409) return {};
  return std::unexpected(DaemonError("cannot signal the container", answer.status, answer.body));
}

Status DaemonApi::Remove(const std::string& name) {
  // podman would first stop it gently, and wait. The answer does not matter, since the removal shows the
  // result; without any answer the removal is not tried.
  const auto killed = Call(Method::kPost, Container(name) + "/kill?signal=SIGKILL", {}, kRemoveWaitMax);
  if (!killed) return std::unexpected(killed.error());
  TY_TRY(const Answer answer, Call(Method::kDelete, Container(name) + "?force=1&v=1", {}, kRemoveWaitMax));
  if (IsSuccess(answer.status) || answer.status == 404) return {};
  return std::unexpected(DaemonError("cannot remove the container", answer.status, answer.body));
}

Result<std::vector<std::string>> DaemonApi::List(const std::string& label) {
  TY_TRY(const Answer answer, Call(Method::kGet, "/containers/json?all=1&filters=" + LabelFilter(label)));
  if (IsSuccess(answer.status)) return ParseContainerNames(answer.body);
  return std::unexpected(DaemonError("cannot list containers", answer.status, answer.body));
}

Status DaemonApi::Commit(const std::string& container, const std::string& repository,
                         const std::string& tag) {
  TY_TRY(const Answer answer, Call(Method::kPost,
                                   "/commit?container=" + Escape(container) + "&repo=" + Escape(repository) +
                                       "&tag=" + Escape(tag) + "&pause=0",
                                   "{}", std::chrono::minutes(30)));
  if (IsSuccess(answer.status)) return {};
  return std::unexpected(DaemonError("cannot keep the container's files", answer.status, answer.body));
}

}  // namespace trainyard::replica
