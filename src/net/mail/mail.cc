#include "net/mail/mail.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/text/base64.h"
#include "net/http/client_socket.h"

namespace trainyard::mail {

namespace {

using http::Endpoint;
using std::chrono::milliseconds;

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kBase64LineMax = 76;
constexpr std::size_t kReplyBytesMax = 64 << 10;
/// The server may send a byte now and then; and a stopping server of ours waits for the session.
constexpr milliseconds kSessionMax{15'000};
constexpr std::uint16_t kSubmissionPort = 587;
constexpr std::uint16_t kTlsPort = 465;

std::string InLines(const std::string& base64) {
  std::string lines;
  for (std::size_t at = 0; at < base64.size(); at += kBase64LineMax)
    lines.append(base64, at, kBase64LineMax).append(kLineEnd);
  return lines;
}

/// As ASCII is; anything else as an encoded word. Source: RFC 2047 section 2.
std::string HeaderText(const std::string& text) {
  constexpr std::size_t kPlainMax = 60;
  const bool is_plain = text.size() <= kPlainMax && std::ranges::all_of(text, [](unsigned char byte) {
                          return byte >= 32 && byte < 127;
                        });
  if (is_plain) return text;
  constexpr std::size_t kBytesInWord = 36;
  std::string words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(at + kBytesInWord, text.size());
    while (end < text.size() && end > at + 1 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
      --end;
    words +=
        (at == 0 ? "" : "\r\n ") + std::string("=?UTF-8?B?") + text::Base64(text.substr(at, end - at)) + "?=";
    at = end;
  }
  return words;
}

/// "Mon, 30 Nov 2026 00:53:20 +0000". Source: RFC 5322 section 3.3.
std::string DateText(SysTime time) {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];  // the names do not depend on the locale
  std::snprintf(text, sizeof text, "%s, %02d %s %d %02d:%02d:%02d +0000",
                kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900, parts.tm_hour,
                parts.tm_min, parts.tm_sec);
  return text;
}

Error TooSlow() { return Error{Code::kDeadlineExceeded, "the mail server is too slow", {}}; }

std::string DomainOf(const std::string& address) { return address.substr(address.find('@') + 1); }

/// One session with the server.
class Session {
 public:
  Session(http::ClientSocket socket, milliseconds wait_max)
      : socket_(std::move(socket)), wait_max_(wait_max) {}

  struct Reply {
    int code = 0;
    std::vector<std::string> lines;  ///< without the code
  };

  Result<Reply> Command(const std::string& line) {
    TY_RETURN_IF_ERROR(socket_.Write(line + std::string(kLineEnd), wait_max_));
    return ReadReply();
  }

  /// The first digit of the code must be `kind`.
  Status Expect(const std::string& line, char kind, std::string_view shown) {
    TY_TRY(const Reply reply, Command(line));
    return Check(reply, kind, shown);
  }

  Status Greet() {
    TY_TRY(const Reply reply, ReadReply());
    return Check(reply, '2', "the connection");
  }

  Status Hello(const std::string& name) {
    TY_TRY(Reply reply, Command("EHLO " + name));
    TY_RETURN_IF_ERROR(Check(reply, '2', "EHLO"));
    offers_ = std::move(reply.lines);
    for (std::string& offer : offers_) offer = ToLower(offer);
    return {};
  }

  /// Whether the server offers "starttls", or a word of "auth plain login".
  [[nodiscard]] bool Offers(std::string_view keyword, std::string_view word = {}) const {
    return std::ranges::any_of(offers_, [&](const std::string& offer) {
      if (!offer.starts_with(keyword)) return false;
      return word.empty() || (offer + " ").contains(" " + std::string(word) + " ");
    });
  }

  Status StartTls(const Endpoint& endpoint) {
    TY_RETURN_IF_ERROR(Expect("STARTTLS", '2', "STARTTLS"));
    // Bytes that arrived before TLS may come from somebody between us and the server.
    if (!unread_.empty()) return std::unexpected(Unavailable("the server sent more before TLS began"));
    return socket_.StartTls(endpoint, wait_max_);
  }

 private:
  static Status Check(const Reply& reply, char kind, std::string_view shown) {
    if (std::to_string(reply.code).front() == kind) return {};
    std::string text;
    for (const std::string& line : reply.lines) text += " " + line;
    return std::unexpected(Unavailable("the mail server answered " + std::string(shown) + " with " +
                                       std::to_string(reply.code) + text));
  }

  Result<Reply> ReadReply() {
    Reply reply;
    for (std::size_t bytes = 0; bytes < kReplyBytesMax;) {
      TY_TRY(const std::string line, ReadLine());
      bytes += line.size();
      const bool has_code =
          line.size() >= 3 && std::all_of(line.begin(), line.begin() + 3,
                                          [](unsigned char digit) { return std::isdigit(digit) != 0; });
      if (!has_code) break;
      reply.code = std::stoi(line.substr(0, 3));
      reply.lines.push_back(line.size() > 4 ? line.substr(4) : "");
      if (line.size() == 3 || line[3] != '-') return reply;
    }
    return std::unexpected(Unavailable("the server does not speak SMTP"));
  }

  Result<std::string> ReadLine() {
    for (;;) {
      if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
        std::string line = unread_.substr(0, end);
        unread_.erase(0, end + 1);
        if (line.ends_with('\r')) line.pop_back();
        return line;
      }
      if (std::chrono::steady_clock::now() > end_) return std::unexpected(TooSlow());
      std::array<char, 4096> buffer{};
      const auto left = std::chrono::ceil<milliseconds>(end_ - std::chrono::steady_clock::now());
      const auto got = socket_.ReadSome(buffer, std::clamp(left, milliseconds{1}, wait_max_));
      if (!got && got.error().code == Code::kDeadlineExceeded) return std::unexpected(TooSlow());
      if (!got) return std::unexpected(got.error());
      if (*got == 0) return std::unexpected(Unavailable("the mail server closed the connection"));
      unread_.append(buffer.data(), *got);
      if (unread_.size() > kReplyBytesMax)
        return std::unexpected(Unavailable("the server does not speak SMTP"));
    }
  }

  http::ClientSocket socket_;
  milliseconds wait_max_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kSessionMax;
  std::string unread_;
  std::vector<std::string> offers_;
};

Status LogIn(Session& session, const MailServer& server) {
  if (session.Offers("auth", "plain")) {
    const std::string proof = std::string(1, '\0') + server.user + std::string(1, '\0') + server.password;
    return session.Expect("AUTH PLAIN " + text::Base64(proof), '2', "the login");
  }
  if (!session.Offers("auth", "login"))
    return std::unexpected(Unavailable("the mail server offers neither AUTH PLAIN nor AUTH LOGIN"));
  TY_RETURN_IF_ERROR(session.Expect("AUTH LOGIN", '3', "AUTH LOGIN"));
  TY_RETURN_IF_ERROR(session.Expect(text::Base64(server.user), '3', "the login's user"));
  return session.Expect(text::Base64(server.password), '2', "the login");
}

Result<Session> Open(const MailServer& server, milliseconds wait_max) {
  TY_TRY(http::ClientSocket socket, http::ClientSocket::Connect(server.endpoint, wait_max));
  Session session(std::move(socket), wait_max);
  TY_RETURN_IF_ERROR(session.Greet());
  const std::string name = DomainOf(server.from);
  TY_RETURN_IF_ERROR(session.Hello(name));
  bool is_tls = server.endpoint.transport == Endpoint::Transport::kTls;
  if (!is_tls && session.Offers("starttls")) {
    TY_RETURN_IF_ERROR(session.StartTls(server.endpoint));
    TY_RETURN_IF_ERROR(session.Hello(name));
    is_tls = true;
  }
  if (server.user.empty()) return session;
  if (!is_tls)
    return std::unexpected(
        Unavailable("the mail server offers no STARTTLS: the password is only sent over TLS (use smtps://)"));
  TY_RETURN_IF_ERROR(LogIn(session, server));
  return session;
}

}  // namespace

Result<MailServer> ParseServer(const std::string& url) {
  const bool is_tls = url.starts_with("smtps://");
  const auto refuse = [] {  // without the text, which may have a password
    return std::unexpected(InvalidArgument(
        "", "must be smtp://[USER@]HOST[:PORT] or smtps://[USER@]HOST[:PORT], without a password"));
  };
  if (!is_tls && !url.starts_with("smtp://")) return refuse();
  std::string rest = url.substr(url.find("//") + 2);
  MailServer server;
  // A user's name is often an address.
  if (const std::size_t at = rest.rfind('@'); at != std::string::npos) {
    server.user = rest.substr(0, at);
    rest.erase(0, at + 1);
    if (server.user.empty() || server.user.contains(':')) return refuse();
  }
  const auto endpoint = Endpoint::Parse((is_tls ? "https://" : "http://") + rest);
  if (!endpoint) return refuse();
  server.endpoint = *endpoint;
  const bool has_port = rest.rfind(':') != std::string::npos && rest.rfind(':') > rest.rfind(']') + 1;
  if (!has_port) server.endpoint.port = is_tls ? kTlsPort : kSubmissionPort;
  return server;
}

std::string PrintMessage(const MailServer& server, const Mail& message) {
  std::string text = "From: Trainyard <" + server.from + ">\r\n";
  text += "To: <" + message.to + ">\r\n";
  text += "Subject: " + HeaderText(message.subject) + "\r\n";
  text += "Date: " + DateText(message.time) + "\r\n";
  text += "Message-ID: <" + message.id + "@" + DomainOf(server.from) + ">\r\n";
  text += "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n";
  // Base64 needs neither short lines, nor 8-bit transport, nor dots that are doubled.
  text += "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n";
  return text + InLines(text::Base64(message.text));
}

Status Send(const MailServer& server, const Mail& message, milliseconds wait_max) {
  TY_TRY(Session session, Open(server, wait_max));
  TY_RETURN_IF_ERROR(session.Expect("MAIL FROM:<" + server.from + ">", '2', "MAIL FROM"));
  TY_RETURN_IF_ERROR(session.Expect("RCPT TO:<" + message.to + ">", '2', "RCPT TO"));
  TY_RETURN_IF_ERROR(session.Expect("DATA", '3', "DATA"));
  TY_RETURN_IF_ERROR(session.Expect(PrintMessage(server, message) + ".", '2', "the message"));
  (void)session.Command("QUIT");
  return {};
}

}  // namespace trainyard::mail
