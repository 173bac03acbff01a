// The flags about notices of jobs: docs/notifications.md.
#include "net/mail/mail.h"
#include "server/options/flag.h"

namespace trainyard::server {
namespace {

template <auto... kPath>
using Notice = At<&ServeOptions::notices, kPath...>;

Result<std::optional<mail::MailServer>> ReadMailServer(const std::string& url) {
  if (url.empty()) return std::nullopt;
  TY_TRY(mail::MailServer server, mail::ParseServer(url));
  return server;
}

Result<std::string> ReadSender(const std::string& address) {
  if (address.empty()) return address;
  TY_TRY(const notices::Destination read, notices::ParseDestination("x=mailto:" + address));
  return read.target;
}

constexpr Flag kNoticeFlags[] = {
    {"--notify", "NAME=URL [WORD ...]",
     "Destination of notices about jobs: an https, http or mailto URL, then, separated by spaces, "
     "projects=P,... (default: all), events=succeeded,failed,cancelled,waiting (default: all four) and "
     "jobs=all|named (named: only jobs whose label trainyard-notify is NAME). Can be repeated.",
     kRules<Notice<&NoticeOptions::destinations>, notices::AddDestination>},
    {"--notify-after", "DURATION",
     "How long a job waits to start until a notice of the event waiting is sent: 30m, 2h, or never.",
     kPrinted<Notice<&NoticeOptions::long_wait>, retention::ParseKeep, retention::KeepText>},
    {"--notify-secret-file", "FILE",
     "File with the secret, at least 16 bytes, that signs the notices to http and https URLs.",
     kAbsolutePath<Notice<&NoticeOptions::secret_file>>},
    {"--smtp-server", "URL",
     "Mail server for notices to mailto URLs: smtp://[USER@]HOST[:PORT], which uses STARTTLS if the server "
     "offers it, or smtps://[USER@]HOST[:PORT].",
     kParsed<Notice<&NoticeOptions::mail_server>, ReadMailServer>},
    {"--smtp-from", "ADDRESS", "Sender of these mails.",
     kParsed<Notice<&NoticeOptions::mail_from>, ReadSender>},
    {"--smtp-password-file", "FILE", "File with the password of USER at the mail server.",
     kAbsolutePath<Notice<&NoticeOptions::mail_password_file>>},
};

}  // namespace

std::span<const Flag> NoticeFlags() { return kNoticeFlags; }

}  // namespace trainyard::server
