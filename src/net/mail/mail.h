#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/http/client_request.h"

/// Sends e-mail through one server. Source: RFC 5321 (SMTP), 3207 (STARTTLS), 4954 (AUTH), 5322 (the form of
/// a message).
namespace trainyard::mail {

/// The operator's server.
struct MailServer {
  http::Endpoint endpoint;  ///< kTls: TLS from the start; kTcp: STARTTLS if the server offers it
  std::string user;         ///< empty: no login
  std::string password;
  std::string from;  ///< the sender's address
};

/// Reads "smtp://[USER@]HOST[:PORT]" (port 587) or "smtps://[USER@]HOST[:PORT]" (port 465). kInvalidArgument
/// with the reason.
[[nodiscard]] Result<MailServer> ParseServer(const std::string& url);

struct Mail {
  std::string to;
  std::string subject;  ///< one line
  std::string text;     ///< UTF-8
  std::string id;       ///< letters, digits and '-': the same in each try
  SysTime time;
};

/// The message as it is sent: header and body with CRLF line ends, at most 76 bytes each, without a line that
/// begins with a dot. Pure.
[[nodiscard]] std::string PrintMessage(const MailServer& server, const Mail& message);

/// Delivers the message to the server. Blocks, at most `wait_max` for the next bytes of an answer, and for a
/// few times as long in all. A password is sent only over TLS. Errors: of the connection; kDeadlineExceeded;
/// kUnavailable with what the server answered.
[[nodiscard]] Status Send(const MailServer& server, const Mail& message, std::chrono::milliseconds wait_max);

}  // namespace trainyard::mail
