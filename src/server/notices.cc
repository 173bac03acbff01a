#include "server/notices.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/text/number.h"
#include "control/run/keys.h"
#include "net/http/client.h"
#include "net/http/text.h"
#include "net/mail/mail.h"
#include "stores/backup/known_jobs.h"

namespace trainyard::server {

namespace {

using notices::Destination;
using notices::Letter;

/// For each wait of a delivery. A stopping server waits for deliveries under way.
constexpr std::chrono::milliseconds kWaitMax{10'000};
constexpr std::size_t kSecretBytesMin = 16;
constexpr std::size_t kSecretBytesMax = 4096;

/// What a delivery needs. A value: the senders' threads share it.
struct Means {
  std::string secret;
  mail::MailServer mail_server;
};

/// Without a line end. Empty: no file is named.
Result<std::string> ReadSecret(const std::string& flag, const std::string& path) {
  if (path.empty()) return std::string();
  const Result<std::string> text = ReadFile(path, kSecretBytesMax);
  if (!text) return std::unexpected(InvalidArgument(flag, flag + ": " + text.error().message));
  const std::string_view secret = http::Trim(std::string_view(*text).substr(0, text->find_first_of("\r\n")));
  return std::string(secret);
}

Result<Means> ReadMeans(const NoticeOptions& options) {
  Means means;
  TY_TRY(means.secret, ReadSecret("--notify-secret-file", options.secret_file));
  if (!options.secret_file.empty() && means.secret.size() < kSecretBytesMin)
    return std::unexpected(
        InvalidArgument("--notify-secret-file", "--notify-secret-file " + options.secret_file +
                                                    ": the secret is shorter than 16 bytes; `openssl rand "
                                                    "-hex 32` prints a good one"));
  if (!options.mail_server) return means;
  means.mail_server = *options.mail_server;
  means.mail_server.from = options.mail_from;
  TY_TRY(means.mail_server.password, ReadSecret("--smtp-password-file", options.mail_password_file));
  return means;
}

Status Call(const Destination& destination, const Letter& letter, const std::string& secret, SysTime now) {
  TY_TRY(http::Endpoint endpoint, http::Endpoint::Parse(destination.server));
  http::Client client(std::move(endpoint));
  http::ClientRequest request{.method = http::Method::kPost,
                              .target = destination.target,
                              .headers = SignedHeaders(letter, secret, now),
                              .body = letter.json,
                              .wait_max = kWaitMax,
                              .response_max = kWaitMax,
                              .head_only = true};
  TY_TRY(const http::ClientResponse response, client.Send(std::move(request)));
  if (response.status / 100 == 2) return {};
  return std::unexpected(Unavailable(destination.server + " answered " + std::to_string(response.status)));
}

}  // namespace

http::Headers SignedHeaders(const Letter& letter, const std::string& secret, SysTime now) {
  const std::string time =
      std::to_string(std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  http::Headers headers;
  headers.Add("Content-Type", "application/json");
  headers.Add("X-Trainyard-Notice", letter.notice_id);
  headers.Add("X-Trainyard-Timestamp", time);
  headers.Add("X-Trainyard-Signature", "sha256=" + control::Mac(secret, time + "." + letter.json));
  return headers;
}

Result<std::unique_ptr<Notices>> Notices::Open(Foundation& base, JobLoop& loop) {
  const NoticeOptions& options = base.options.notices;
  if (options.destinations.empty()) return nullptr;
  TY_TRY(Means means, ReadMeans(options));
  auto made = std::make_unique<Notices>();
  const std::string path = base.data.Path("notices.db");
  TY_RETURN_IF_ERROR(backup::SetAsideIfDamaged(path, "Notices that were not delivered yet are not sent."));
  TY_TRY(made->outbox, notices::Outbox::Open(path));
  std::vector<std::string> names;
  for (const Destination& destination : options.destinations) names.push_back(destination.name);
  TY_TRY(const std::int64_t removed, made->outbox->RemoveOthers(names));
  if (removed > 0)
    Diagnose(DiagnosticLevel::kWarning, "dropped " + text::Counted(removed, "undelivered notice") +
                                            " for destinations that are no longer in the configuration");
  auto deliver = [means = std::move(means), &clock = base.clock](const Destination& destination,
                                                                 const Letter& letter) -> Status {
    if (destination.kind == Destination::Kind::kWebhook)
      return Call(destination, letter, means.secret, clock.Now());
    return mail::Send(means.mail_server,
                      {.to = destination.target,
                       .subject = letter.subject,
                       .text = letter.text,
                       .id = letter.notice_id,
                       .time = clock.Now()},
                      kWaitMax);
  };
  made->notifier = std::make_unique<control::Notifier>(
      control::Notifier::Dependencies{.loop = base.LoopFor("notices"),
                                      .clock = base.clock,
                                      .jobs = loop.jobs,
                                      .journal = loop.journal,
                                      .outbox = *made->outbox,
                                      .destinations = options.destinations,
                                      .long_wait = options.long_wait,
                                      .server_url = base.settings.server_url,
                                      .deliver = std::move(deliver)});
  return made;
}

}  // namespace trainyard::server
