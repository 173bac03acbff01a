#include "programs/lines/structured_line.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

namespace trainyard::replica::structured_line_test {
namespace {

using logging::v2::LogEntry;

struct Row {
  const char* name;
  std::string line;
  const char* expected;  ///< "SEVERITY|text|json"; null: not such a line
};

std::string Show(const v1::LogLine& line) {
  std::string fields;
  if (line.has_json() && !google::protobuf::util::MessageToJsonString(line.json(), &fields).ok())
    fields = "?";
  return LogEntry::Severity_Name(line.severity()) + "|" + line.text() + "|" + fields;
}

class StructuredLineTest : public testing::TestWithParam<Row> {};
TEST_P(StructuredLineTest, AsExpected) {
  v1::LogLine line;
  const bool parsed = ParseStructuredLine(GetParam().line, line);
  ASSERT_EQ(parsed, GetParam().expected != nullptr);
  if (parsed) {
    EXPECT_EQ(Show(line), GetParam().expected);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Rules, StructuredLineTest,
    testing::Values(
        Row{"hook", R"({"severity":"WARNING","message":"slow","lineno":12})",
            R"(WARNING|slow|{"lineno":12})"},
        Row{"levelname", R"({"levelname":"ERROR","message":"m"})", R"(ERROR|m|{"levelname":"ERROR"})"},
        Row{"neither", R"({"loss":0.5})", R"(DEFAULT||{"loss":0.5})"},
        Row{"only_message", R"({"message":"m"})", "DEFAULT|m|"},
        Row{"number", R"({"severity":500,"message":"m"})", "ERROR|m|"},
        Row{"lower_case", R"({"severity":"warn","message":"m"})", "WARNING|m|"},
        Row{"unknown_severity_stays", R"({"severity":"loud"})", R"(DEFAULT||{"severity":"loud"})"},
        Row{"message_not_text", R"({"message":3})", R"(DEFAULT||{"message":3})"},
        Row{"nested", R"({"a":{"b":[1,null,true,"x"]}})", R"(DEFAULT||{"a":{"b":[1,null,true,"x"]}})"},
        Row{"empty_object", "{}", "DEFAULT||"}, Row{"array", "[1]", nullptr}, Row{"text", "hello", nullptr},
        Row{"python_dict", "{'a': 1}", nullptr}, Row{"cut", R"({"a":)", nullptr},
        Row{"trailing", R"({"a":1} {"b":2})", nullptr},
        Row{"too_deep", R"({"a":)" + std::string(40, '[') + std::string(40, ']') + "}", nullptr},
        Row{"empty", "", nullptr}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::replica::structured_line_test
