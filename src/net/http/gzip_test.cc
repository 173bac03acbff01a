#include "net/http/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>
#include <vector>

#include "net/http/incoming.h"
#include "net/http/testing/test_server.h"

namespace trainyard::http::gzip_test {
namespace {

/// Decodes pieces of `in_size` into windows of `out_size`: the text, or "error" or "unfinished".
std::string Decode(std::string_view bytes, std::size_t in_size, std::size_t out_size) {
  GzipDecoder decoder;
  std::string text;
  std::vector<std::byte> out(out_size);
  while (!decoder.done()) {
    const auto step = decoder.Decode(bytes.substr(0, in_size), out);
    if (!step) return "error";
    text.append(reinterpret_cast<const char*>(out.data()), step->produced);
    bytes.remove_prefix(step->consumed);
    if (bytes.empty() && step->consumed == 0 && step->produced == 0) return "unfinished";
  }
  return text;
}

std::string RandomText(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? random() : 'a');
  return text;
}

TEST(Gzip, WhatWasCompressedComesBack) {
  for (const std::size_t size : {0U, 1U, 1000U, 100'000U, 3'000'000U}) {
    const std::string text = RandomText(size);
    EXPECT_EQ(Decode(GzipCompress(text), 1000, 777), text) << size;
  }
}

TEST(Gzip, DecodesByteByByte) {
  const std::string text = RandomText(2000);
  EXPECT_EQ(Decode(GzipCompress(text), 1, 1), text);
}

/// The low half of the header's CRC32, least byte first. Source: RFC 1952, 2.3.1.
std::string HeaderSum(const std::string& header) {
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size()));
  return {static_cast<char>(crc), static_cast<char>(crc >> 8U)};
}

TEST(Gzip, EveryHeaderHoweverItIsCut) {
  const std::string start("\x1f\x8b\x08", 3);
  const std::string fixed("\0\0\0\0\0\x03", 6);
  const std::string member("\x4b\x4c\x4a\x06\x00\xc2\x41\x24\x35\x03\x00\x00\x00", 13);  // "abc"
  const std::string extra("\x03\0xyz", 5);
  const std::string name("name\0", 5);
  const std::string comment("a comment\0", 10);
  for (int flags = 0; flags < 32; ++flags) {
    std::string bytes = start + static_cast<char>(flags) + fixed;
    if ((flags & 4) != 0) bytes += extra;
    if ((flags & 8) != 0) bytes += name;
    if ((flags & 16) != 0) bytes += comment;
    if ((flags & 2) != 0) bytes += HeaderSum(bytes);
    bytes += member;
    for (std::size_t size = 1; size <= bytes.size(); ++size)
      EXPECT_EQ(Decode(bytes, size, 4096), "abc") << flags << " " << size;
  }
  const std::string no_extra = start + "\x04" + fixed + std::string("\0\0", 2) + member;
  EXPECT_EQ(Decode(no_extra, 1, 4096), "abc");
  EXPECT_EQ(Decode(start + "\x20" + fixed + member, 64, 4096), "error") << "a reserved flag";
  EXPECT_EQ(Decode(start + "\x02" + fixed + "cc" + member, 64, 4096), "error") << "a wrong sum of the header";
}

TEST(Gzip, CutAndDamagedBytes) {
  const std::string compressed = GzipCompress(RandomText(2000));
  for (std::size_t size = 0; size < compressed.size(); ++size) {
    EXPECT_EQ(Decode(compressed.substr(0, size), 64, 4096), "unfinished") << size;
  }
  std::string wrong_sum = compressed;
  wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] ^ 1);
  EXPECT_EQ(Decode(wrong_sum, 64, 4096), "error");
  EXPECT_EQ(Decode("this is no gzip at all", 64, 4096), "error");
}

/// As small as gzip gets: a thousandth, where GzipCompress() stops at a two hundredth.
std::string Smallest(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  std::string compressed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

std::string Post(const std::string& path, const std::string& body) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string Converse(const TestServer& server, const std::string& bytes) {
  RawClient client(server.port());
  client.Send(bytes);
  client.ShutdownWrite();
  return client.ReadToEnd();
}

TEST(GzipBody, IsDecompressedForTheHandler) {
  const TestServer server;
  const std::string text(100'000, 'x');
  const std::string answer = Converse(server, Post("/echo", GzipCompress(text)));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + text)) << answer.substr(0, 300);
}

TEST(GzipBody, BombEndsIn413) {
  static_assert(kInflateFreeBytes < (std::uint64_t{100} << 20));
  const TestServer server;
  const std::string answer = Converse(server, Post("/length", Smallest(std::string(100 << 20, '\0'))));
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 413") << answer;
}

TEST(GzipBody, CutDamagedAndTrailing) {
  const TestServer server;
  const std::string compressed = GzipCompress(RandomText(2000));
  for (const std::string& body : {compressed.substr(0, compressed.size() - 1), compressed.substr(0, 5),
                                  std::string("no gzip"), compressed + "x"}) {
    EXPECT_EQ(Converse(server, Post("/length", body)).substr(0, 12), "HTTP/1.1 400") << body.size();
  }
  EXPECT_EQ(Converse(server, Post("/length", "")).substr(0, 12), "HTTP/1.1 200");
}

TEST(GzipResponse, OnlyWhereItPays) {
  const TestServer server;
  const auto get = [&](const std::string& path, const std::string& fields) {
    return Converse(server,
                    "GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + fields + "\r\n");
  };
  const std::string compressed = get("/json/5000", "Accept-Encoding: gzip, deflate\r\n");
  EXPECT_NE(compressed.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_LT(compressed.size(), 500U);
  EXPECT_EQ(Decode(compressed.substr(compressed.find("\r\n\r\n") + 4), 5000, 5000),
            "\"" + std::string(4998, 'j') + "\"");
  EXPECT_EQ(get("/json/5000", "").find("Content-Encoding"), std::string::npos);
  EXPECT_EQ(get("/json/5000", "Accept-Encoding: gzip;q=0\r\n").find("Content-Encoding"), std::string::npos);
  EXPECT_EQ(get("/json/500", "Accept-Encoding: gzip\r\n").find("Content-Encoding"), std::string::npos);
  EXPECT_EQ(get("/file/5000", "Accept-Encoding: gzip\r\n").find("Content-Encoding"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::http::gzip_test
