#include "engine/slurm/slurm_rest.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/async/file.h"

namespace trainyard::engine {

namespace {

using slurm::Failure;

constexpr std::size_t kRestAnswerBytesMax = std::size_t{256} << 20;  // some 50,000 jobs
constexpr std::size_t kShownMax = 200;
constexpr int kOkEnd = 300;
constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr std::string_view kTokenPrefix = "SLURM_JWT=";

template <class T>
std::unexpected<SlurmRefusal> Forward(const SlurmAnswer<T>& answer) {
  return std::unexpected(answer.error());
}

std::unexpected<SlurmRefusal> Refusal(Failure failure, std::string words) {
  return std::unexpected(SlurmRefusal{failure, std::move(words)});
}

/// The error that an answer reports; empty: there is none.
std::optional<SlurmRefusal> RefusalIn(const http::ClientResponse& response) {
  std::string words = slurm::ParseRestError(response.body);
  if (response.status == kUnauthorized || response.status == kForbidden)
    return SlurmRefusal{
        Failure::kMistake,
        "slurmrestd refuses the account (HTTP " + std::to_string(response.status) +
            "): give a valid token with --slurm-rest-token-file, or a socket that it may use"};
  if (words.empty() && response.status < kOkEnd) return std::nullopt;
  if (words.empty())
    words = "slurmrestd answered with HTTP " + std::to_string(response.status) + ": " +
            response.body.substr(0, kShownMax);
  return SlurmRefusal{response.status == kBadRequest ? Failure::kMistake : slurm::FailureOf(words),
                      std::move(words)};
}

/// Whether this version of the interface is not offered: errors about Slurm itself, such as that a job is
/// gone, have a message.
bool IsNotOffered(const http::ClientResponse& response) {
  return response.status == kNotFound && slurm::ParseRestError(response.body).empty();
}

}  // namespace

SlurmAnswer<http::ClientResponse> SlurmRest::Send(http::ClientRequest request) const {
  request.wait_max = options_.wait_max;
  request.response_bytes_max = kRestAnswerBytesMax;
  if (!options_.token_file.empty()) {
    const Result<std::string> text = ReadFile(options_.token_file);
    if (!text)
      return Refusal(Failure::kMistake, "cannot read the token of slurmrestd: " + text.error().message);
    std::string_view token = TrimSpace(*text);
    if (token.starts_with(kTokenPrefix)) token.remove_prefix(kTokenPrefix.size());
    request.headers.Set("X-SLURM-USER-NAME", options_.owner.name);
    request.headers.Set("X-SLURM-USER-TOKEN", std::string(token));
  }
  http::Client client(options_.endpoint);
  Result<http::ClientResponse> response = client.Send(std::move(request));
  if (!response) return Refusal(Failure::kNoAnswer, "slurmrestd: " + response.error().message);
  if (IsNotOffered(*response))
    version_.With([](std::optional<slurm::RestVersion>& version) { version.reset(); });
  return *std::move(response);
}

SlurmAnswer<slurm::RestVersion> SlurmRest::Version() const {
  const auto read = [](const std::optional<slurm::RestVersion>& version) { return version; };
  if (const std::optional<slurm::RestVersion> known = version_.With(read)) return *known;
  for (const slurm::RestVersion version : slurm::kRestVersions) {
    const SlurmAnswer<http::ClientResponse> response = Send({.target = slurm::RestTarget(version, "ping")});
    if (!response) return Forward(response);
    if (IsNotOffered(*response)) continue;
    // It may report that the controller is down: the version is offered all the same.
    if (response->status == kUnauthorized || response->status == kForbidden)
      return std::unexpected(*RefusalIn(*response));
    version_.With([version](std::optional<slurm::RestVersion>& known) { known = version; });
    return version;
  }
  return Refusal(Failure::kMistake, "slurmrestd offers none of the interfaces v0.0.38 to v0.0.42");
}

SlurmAnswer<std::string> SlurmRest::Get(const std::string& target) const {
  SlurmAnswer<http::ClientResponse> response = Send({.target = target});
  if (!response) return Forward(response);
  if (std::optional<SlurmRefusal> refusal = RefusalIn(*response)) return std::unexpected(*refusal);
  return std::move(response->body);
}

SlurmAnswer<std::int64_t> SlurmRest::Submit(const slurm::BatchJob& batch,
                                            const slurm::GangRequest& request) const {
  const SlurmAnswer<slurm::RestVersion> version = Version();
  if (!version) return Forward(version);
  http::ClientRequest submission{.method = http::Method::kPost,
                                 .target = slurm::RestTarget(*version, "job/submit"),
                                 .body = slurm::RestSubmission(batch, request, *version)};
  submission.headers.Set("Content-Type", "application/json");
  const SlurmAnswer<http::ClientResponse> response = Send(std::move(submission));
  if (!response) return Forward(response);
  const std::int64_t id = slurm::ParseRestSubmitted(response->body);
  if (id > 0) return id;  // even with an error, which then says why the job waits
  if (std::optional<SlurmRefusal> refusal = RefusalIn(*response)) return std::unexpected(*refusal);
  return Refusal(Failure::kNoAnswer, "slurmrestd answered without a job's id");
}

SlurmAnswer<std::vector<slurm::ListedJob>> SlurmRest::ListBy(slurm::RestVersion version,
                                                             std::optional<std::int64_t> id) const {
  const SlurmAnswer<std::string> answer =
      Get(id ? slurm::RestJobTarget(version, *id) : slurm::RestTarget(version, "jobs"));
  if (!answer && id && answer.error().failure == Failure::kGone) return std::vector<slurm::ListedJob>();
  if (!answer) return Forward(answer);
  return Understood(slurm::ParseRestJobs(*answer, options_.owner));
}

SlurmAnswer<std::vector<slurm::ListedJob>> SlurmRest::List(std::optional<std::int64_t> id) const {
  const SlurmAnswer<slurm::RestVersion> version = Version();
  if (!version) return Forward(version);
  return ListBy(*version, id);
}

SlurmAnswer<void> SlurmRest::CancelOne(slurm::RestVersion version, std::int64_t id) const {
  const SlurmAnswer<http::ClientResponse> response =
      Send({.method = http::Method::kDelete, .target = slurm::RestJobTarget(version, id)});
  if (!response) return Forward(response);
  const std::optional<SlurmRefusal> refusal = RefusalIn(*response);
  if (refusal && refusal->failure != Failure::kGone) return std::unexpected(*refusal);
  return {};
}

SlurmAnswer<void> SlurmRest::Cancel(const std::string& name, std::span<const std::int64_t> ids) const {
  const SlurmAnswer<slurm::RestVersion> version = Version();
  if (!version) return Forward(version);
  SlurmAnswer<void> done;
  for (const std::int64_t id : ids) {
    const SlurmAnswer<std::vector<slurm::ListedJob>> jobs = ListBy(*version, id);
    if (!jobs) {
      done = Forward(jobs);
      continue;
    }
    const bool is_meant = std::ranges::any_of(
        *jobs, [&](const slurm::ListedJob& job) { return job.id == id && job.name == name; });
    if (!is_meant) continue;
    if (const SlurmAnswer<void> cancelled = CancelOne(*version, id); !cancelled) done = Forward(cancelled);
  }
  return done;
}

SlurmAnswer<std::vector<slurm::Node>> SlurmRest::Nodes() const {
  const SlurmAnswer<slurm::RestVersion> version = Version();
  if (!version) return Forward(version);
  const SlurmAnswer<std::string> nodes = Get(slurm::RestTarget(*version, "nodes"));
  if (!nodes) return Forward(nodes);
  const SlurmAnswer<std::string> partitions = Get(slurm::RestTarget(*version, "partitions"));
  if (!partitions) return Forward(partitions);
  return Understood(slurm::ParseRestNodes(*nodes, *partitions));
}

}  // namespace trainyard::engine
