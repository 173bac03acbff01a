#include "stores/logs/line_view.h"

#include <gtest/gtest.h>

#include <string>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;

replica::v1::LogLine Line(const std::string& text, LogEntry::Severity severity) {
  replica::v1::LogLine line;
  line.set_stamp(1'700'000'000'000'000'001);
  line.set_severity(severity);
  line.set_text(text);
  return line;
}

TEST(ViewLine, SeesWhatTheMessageHas) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(300, 'b'), std::string(70'000, 'c')}) {
    for (const bool has_fields : {false, true}) {
      replica::v1::LogLine line = Line(text, has_fields ? LogEntry::EMERGENCY : LogEntry::DEFAULT);
      line.set_severity_of_stream(!has_fields);
      if (has_fields) (*line.mutable_json()->mutable_fields())["x"].set_number_value(1);
      const std::string bytes = line.SerializeAsString();
      const std::optional<LineView> view = ViewLine(bytes);
      ASSERT_TRUE(view);
      EXPECT_EQ(view->text, text);
      EXPECT_EQ(view->severity, line.severity());
      EXPECT_EQ(view->has_fields, has_fields);
      EXPECT_EQ(view->severity_of_stream, line.severity_of_stream());
    }
  }
}

TEST(ViewLine, SaysWhereItCannot) {
  const std::string bytes = Line(std::string(200, 'x'), LogEntry::ERROR).SerializeAsString();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const std::optional<LineView> view = ViewLine(std::string_view(bytes).substr(0, size));
    replica::v1::LogLine parsed;
    EXPECT_EQ(view.has_value(), parsed.ParseFromString(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(ViewLine("\x32\x01x"));  // a field that there is not
  EXPECT_FALSE(ViewLine("\x10\x63"));   // no severity
  EXPECT_FALSE(ViewLine("\x1a\xff\xff\xff\xff\xff\x01"));
}

}  // namespace
}  // namespace trainyard::logs
