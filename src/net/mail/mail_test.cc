#include "net/mail/mail.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

#include "base/async/file.h"
#include "net/http/listening_socket.h"

namespace trainyard::mail {
namespace {

using testing::HasSubstr;
using Transport = http::Endpoint::Transport;

TEST(ParseServer, ReadsUserHostAndPort) {
  const MailServer server = ParseServer("smtp://robot@example.com@mail.example.com").value();
  EXPECT_EQ(server.user, "robot@example.com");
  EXPECT_EQ(server.endpoint.host, "mail.example.com");
  EXPECT_EQ(server.endpoint.port, 587);
  EXPECT_EQ(server.endpoint.transport, Transport::kTcp);
  EXPECT_EQ(ParseServer("smtps://mail").value().endpoint.port, 465);
  EXPECT_EQ(ParseServer("smtps://mail").value().endpoint.transport, Transport::kTls);
  EXPECT_EQ(ParseServer("smtp://mail:25").value().endpoint.port, 25);
}

TEST(ParseServer, RefusesAPasswordInTheUrl) {
  for (const char* wrong :
       {"mail:25", "http://mail", "smtp://u:secret@mail", "smtp://", "smtp://mail/path"}) {
    const auto server = ParseServer(wrong);
    ASSERT_FALSE(server) << wrong;
    EXPECT_THAT(server.error().message, Not(HasSubstr("secret")));
  }
}

Mail Sample() {
  return {.to = "team@example.com",
          .subject = "Job a failed (project demo)",
          .text = ".\nA line.\n",
          .id = "17-failed",
          .time = SysTime(std::chrono::seconds(1'796'000'000))};
}

TEST(PrintMessage, IsWholeAsMailProgramsReadIt) {
  EXPECT_EQ(PrintMessage({.from = "trainyard@example.com"}, Sample()),
            "From: Trainyard <trainyard@example.com>\r\n"
            "To: <team@example.com>\r\n"
            "Subject: Job a failed (project demo)\r\n"
            "Date: Mon, 30 Nov 2026 00:53:20 +0000\r\n"
            "Message-ID: <17-failed@example.com>\r\n"
            "Auto-Submitted: auto-generated\r\n"
            "MIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "Content-Transfer-Encoding: base64\r\n"
            "\r\n"
            "LgpBIGxpbmUuCg==\r\n");
}

TEST(PrintMessage, HasNoLongLineAndNoLineWithADotInFront) {
  Mail message = Sample();
  message.text = std::string(5'000, '.');
  message.subject = "Job über (project " + std::string(80, 'p') + ")";
  const std::string printed = PrintMessage({.from = "t@example.com"}, message);
  EXPECT_THAT(printed, Not(HasSubstr("\n.")));
  EXPECT_THAT(printed, HasSubstr("Subject: =?UTF-8?B?"));
  for (std::size_t at = 0; at < printed.size();) {
    const std::size_t end = printed.find("\r\n", at);
    EXPECT_LE(end - at, 76U);
    at = end + 2;
  }
}

TEST(PrintMessage, EndsForASubjectThatIsNoUtf8) {
  Mail message = Sample();
  message.subject = std::string(100, '\x80');
  EXPECT_THAT(PrintMessage({.from = "t@example.com"}, message), HasSubstr("Subject: =?UTF-8?B?"));
}

/// Greets, and then sends one byte of an answer that never ends whenever some time has passed.
void Dribble(int listening) {
  const UniqueFd socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  bool open = WriteAll(socket.get(), "220 mail\r\n").has_value();
  while (open) {
    open = ::send(socket.get(), "2", 1, MSG_NOSIGNAL) == 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(Send, DoesNotWaitForAServerThatSendsAByteNowAndThen) {
  http::ListeningSocket socket = http::ListenOnTcp("127.0.0.1", 0).value();
  ASSERT_EQ(::fcntl(socket.descriptor.get(), F_SETFL, 0), 0);
  std::thread thread(Dribble, socket.descriptor.get());
  MailServer server = ParseServer("smtp://127.0.0.1:" + std::to_string(socket.port)).value();
  server.from = "t@example.com";
  const Status sent = Send(server, Sample(), std::chrono::milliseconds(100));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(sent.error().message, "the mail server is too slow");
  thread.join();
}

}  // namespace
}  // namespace trainyard::mail
