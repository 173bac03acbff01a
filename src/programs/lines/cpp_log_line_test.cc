#include "programs/lines/structured_line.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::replica {
namespace {

using logging::v2::LogEntry;

struct Row {
  const char* name;
  const char* line;
  const char* expected;  ///< "SEVERITY|file|line|time|thread|text"; null: not such a line
};

std::string Show(const CppLogLine& line) {
  std::string shown = LogEntry::Severity_Name(line.severity);
  shown.append("|")
      .append(line.file)
      .append("|")
      .append(std::to_string(line.line))
      .append("|")
      .append(line.time);
  return shown.append("|").append(line.thread).append("|").append(line.text);
}

class CppLogLineTest : public testing::TestWithParam<Row> {};
TEST_P(CppLogLineTest, AsExpected) {
  const auto parsed = ParseCppLogLine(GetParam().line);
  ASSERT_EQ(parsed.has_value(), GetParam().expected != nullptr);
  if (parsed) {
    EXPECT_EQ(Show(*parsed), GetParam().expected);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Rules, CppLogLineTest,
    testing::Values(Row{"bare", "I tensorflow/core/platform/cpu.cc:12] Using AVX",
                        "INFO|tensorflow/core/platform/cpu.cc|12|||Using AVX"},
                    Row{"timed", "2020-10-28 11:09:22.123456: W tensorflow/a.cc:59] Could not load",
                        "WARNING|tensorflow/a.cc|59|2020-10-28 11:09:22.123456||Could not load"},
                    Row{"fatal", "F ./a.h:1] x", "CRITICAL|./a.h|1|||x"},
                    Row{"empty_text", "E a.cc:7]", "ERROR|a.cc|7|||"},
                    Row{"grpc", "E0512 12:34:56.123456789    1234 ev_epoll.cc:1201] refused: a] b",
                        "ERROR|ev_epoll.cc|1201|12:34:56.123456789|1234|refused: a] b"},
                    Row{"grpc_debug", "D0512 12:34:56.1 9 a.c:1] x", "DEBUG|a.c|1|12:34:56.1|9|x"},
                    Row{"absl_before_init", "W0000 00:00:1700000000.123456    77 gpu.cc:5] none",
                        "WARNING|gpu.cc|5|00:00:1700000000.123456|77|none"},
                    Row{"prose", "I think: this is prose", nullptr},
                    Row{"prose_with_bracket", "I saw a.cc:12] there", nullptr},
                    Row{"other_letter", "X a.cc:1] x", nullptr},
                    Row{"no_line_number", "I a.cc:x] x", nullptr},
                    Row{"negative_line", "I a.cc:-4] x", nullptr},
                    Row{"huge_line", "I a.cc:99999999999999999999] x", nullptr},
                    Row{"no_file", "I :4] x", nullptr},
                    Row{"grpc_without_thread", "E0512 12:34:56.1 a.cc:1] x", nullptr},
                    Row{"time_only", "2020-10-28 11:09:22.123456: hello", nullptr}, Row{"empty", "", nullptr},
                    Row{"letter", "I", nullptr}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::replica
