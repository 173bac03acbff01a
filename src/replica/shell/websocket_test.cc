#include "replica/shell/websocket.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trainyard::shell {
namespace {

using Kind = WebSocketMessage::Kind;
using Peer = WebSocketReader::Peer;
using namespace std::string_literals;

std::vector<std::string> ReadAll(WebSocketReader& reader) {
  std::vector<std::string> messages;
  for (;;) {
    auto next = reader.Next();
    if (!next) return messages.push_back("ERROR " + next.error().message), messages;
    if (!*next) return messages;
    messages.push_back(std::to_string(std::to_underlying((*next)->kind)) + " " + (*next)->payload);
  }
}

std::vector<std::string> Read(Peer peer, std::string_view bytes) {
  WebSocketReader reader(peer);
  reader.Feed(bytes);
  return ReadAll(reader);
}

TEST(WebSocket, ReadsTheExamplesOfTheStandard) {  // RFC 6455, 5.7
  using Messages = std::vector<std::string>;
  EXPECT_EQ(Read(Peer::kServer, "\x81\x05Hello"), Messages{"1 Hello"});
  EXPECT_EQ(Read(Peer::kClient, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), Messages{"1 Hello"});
  EXPECT_EQ(Read(Peer::kServer, "\x01\x03Hel\x80\x02lo"), Messages{"1 Hello"});
  EXPECT_EQ(Read(Peer::kServer, "\x01\x03Hel\x89\x02hi\x80\x02lo"), (Messages{"9 hi", "1 Hello"}));
  EXPECT_EQ(Read(Peer::kServer, "\x82\x7E\x01\x00"s + std::string(256, 'x')),
            Messages{"2 " + std::string(256, 'x')});
  EXPECT_EQ(WebSocketAccept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocket, RefusesWhatIsNone) {
  const struct {
    const char* what;
    Peer peer;
    std::string bytes;
  } rows[] = {
      {"no mask", Peer::kClient, "\x81\x05Hello"},
      {"a mask", Peer::kServer, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"},
      {"reserved bits", Peer::kServer, "\xC1\x00"s},
      {"unknown opcode", Peer::kServer, "\x83\x00"s},
      {"long ping", Peer::kServer, "\x89\x7E\x00\x80"s},
      {"ping in parts", Peer::kServer, "\x09\x00"s},
      {"continues nothing", Peer::kServer, "\x80\x01x"},
      {"begins twice", Peer::kServer, "\x01\x01x\x01\x01y"},
      {"too long", Peer::kServer, "\x82\x7F\x00\x00\x00\x00\x00\x20\x00\x00"s},
      {"too long in parts", Peer::kServer,
       "\x02\x7F\x00\x00\x00\x00\x00\x10\x00\x00"s + std::string(1 << 20, 'x') + "\x80\x01y"},
      {"http", Peer::kClient, "GET / HTTP/1.1\r\n\r\n"},
  };
  for (const auto& row : rows) {
    const auto messages = Read(row.peer, row.bytes);
    ASSERT_FALSE(messages.empty()) << row.what;
    EXPECT_TRUE(messages.back().starts_with("ERROR ")) << row.what << ": " << messages.back();
  }
}

TEST(WebSocket, WhatIsWrittenIsReadHoweverItIsCut) {
  std::mt19937 random(7);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{125}, std::size_t{126},
                                 std::size_t{0xFFFF}, std::size_t{0x10000}, kWebSocketMessageBytesMax}) {
    std::string payload(size, '\0');
    for (char& c : payload) c = static_cast<char>(random());
    for (const Peer peer : {Peer::kClient, Peer::kServer}) {
      const bool masked = peer == Peer::kClient;
      const std::string bytes =
          WebSocketFrame(Kind::kBinary, payload,
                         masked ? std::optional(static_cast<std::uint32_t>(random())) : std::nullopt);
      WebSocketReader reader(peer);
      const std::size_t cut = random() % bytes.size();
      reader.Feed(std::string_view(bytes).substr(0, cut));
      EXPECT_TRUE(ReadAll(reader).empty());
      reader.Feed(std::string_view(bytes).substr(cut));
      EXPECT_EQ(ReadAll(reader), std::vector<std::string>{"2 " + payload});
    }
  }
}

}  // namespace
}  // namespace trainyard::shell
