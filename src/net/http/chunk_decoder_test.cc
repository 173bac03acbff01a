#include "net/http/chunk_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::http {
namespace {

/// Decodes pieces of `in_size` into windows of `out_size`: the body, or "error" or "unfinished".
std::string Decode(std::string_view bytes, std::size_t in_size, std::size_t out_size) {
  ChunkDecoder decoder;
  std::string body;
  std::vector<std::byte> out(out_size);
  while (!bytes.empty() && !decoder.done()) {
    const auto step = decoder.Decode(bytes.substr(0, in_size), out);
    if (!step) return "error";
    body.append(reinterpret_cast<const char*>(out.data()), step->produced);
    bytes.remove_prefix(step->consumed);
  }
  if (!decoder.done()) return "unfinished";
  return body + "|" + std::string(bytes);
}

struct Row {
  const char* name;
  std::string bytes;
  const char* body;
};

class ChunkDecode : public testing::TestWithParam<Row> {};

TEST_P(ChunkDecode, TheSameForEveryPieceSize) {
  for (const std::size_t in_size : {1U, 2U, 3U, 7U, 1000U}) {
    for (const std::size_t out_size : {1U, 2U, 1000U}) {
      EXPECT_EQ(Decode(GetParam().bytes, in_size, out_size), GetParam().body) << in_size << " " << out_size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ChunkDecode,
    testing::Values(Row{"plain", "3\r\nabc\r\n0\r\n\r\n", "abc|"}, Row{"empty", "0\r\n\r\n", "|"},
                    Row{"two", "1\r\na\r\n0000b\r\n01234567890\r\n000\r\n\r\n", "a01234567890|"},
                    Row{"what_follows_stays", "1\r\na\r\n0\r\n\r\nGET", "a|GET"},
                    Row{"extension", "1;n=\"v\";x\r\na\r\n0;y\r\n\r\n", "a|"},
                    Row{"trailer", "0\r\nA: b\r\nC: d\r\n\r\n", "|"}, Row{"cut", "3\r\nab", "unfinished"},
                    Row{"cut_at_the_end", "1\r\na\r\n0\r\n\r", "unfinished"},
                    Row{"no_size", "\r\na\r\n0\r\n\r\n", "error"},
                    Row{"not_hex", "g\r\na\r\n0\r\n\r\n", "error"},
                    Row{"space", "1 \r\na\r\n0\r\n\r\n", "error"},
                    Row{"sign", "-1\r\na\r\n0\r\n\r\n", "error"},
                    Row{"hex_prefix", "0x1\r\na\r\n0\r\n\r\n", "error"},
                    Row{"overflow", "1000000000000000\r\na\r\n0\r\n\r\n", "error"},
                    Row{"bare_lf", "1\na\n0\n\n", "error"}, Row{"bare_cr", "1\ra\r\n0\r\n\r\n", "error"},
                    Row{"too_long", "1\r\nab\r\n0\r\n\r\n", "error"},
                    Row{"control_in_extension", "1;\x01\r\na\r\n0\r\n\r\n", "error"},
                    Row{"bare_lf_in_trailer", "0\r\nA: b\nC: d\r\n\r\n", "error"}),
    [](const auto& row) { return row.param.name; });

TEST(ChunkDecoder, ExtensionsAreBounded) {
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += "1;" + std::string(100, 'x') + "\r\na\r\n";
  EXPECT_EQ(Decode(bytes + "0\r\n\r\n", 1000, 1000), "error");
  EXPECT_EQ(Decode("0\r\nA: " + std::string(20'000, 'x') + "\r\n\r\n", 1000, 1000), "error");
}

}  // namespace
}  // namespace trainyard::http
