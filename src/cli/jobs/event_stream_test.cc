#include "cli/jobs/log_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace trainyard::cli::event_stream_test {

void PrintTo(const ServerEvent& event, std::ostream* out) {
  *out << event.type << "/" << event.id << "/" << event.data;
}

namespace {

using testing::ElementsAre;

struct Row {
  const char* name;
  std::string_view text;
  std::vector<ServerEvent> events;
};
class Events : public testing::TestWithParam<Row> {};

TEST_P(Events, TheSameHoweverTheyAreCut) {
  const std::string_view text = GetParam().text;
  for (std::size_t step = 1; step <= text.size() + 1; ++step) {
    EventParser parser;
    std::vector<ServerEvent> events;
    for (std::size_t at = 0; at < text.size(); at += step) {
      for (ServerEvent& event : parser.TakeBytes(text.substr(at, step))) events.push_back(std::move(event));
    }
    EXPECT_EQ(events, GetParam().events) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Streams, Events,
    testing::Values(Row{"nothing", "", {}}, Row{"comment", ":\n\n: hello\n\n", {}},
                    Row{"one", "id: 7\ndata: {}\n\n", {{"", "7", "{}"}}},
                    Row{"not_complete", "data: a\n", {}},
                    Row{"id_stays", "id: 7\ndata: a\n\ndata: b\n\n", {{"", "7", "a"}, {"", "7", "b"}}},
                    Row{"two_lines", "data: a\ndata:b\n\n", {{"", "", "a\nb"}}},
                    Row{"type", "event: error\ndata: x\n\ndata: y\n\n", {{"error", "", "x"}, {"", "", "y"}}},
                    Row{"without_data", "event: error\nid: 3\n\ndata: y\n\n", {{"", "3", "y"}}},
                    Row{"line_ends",
                        "data: a\r\n\r\ndata: b\r\rdata: c\n\r\n",
                        {{"", "", "a"}, {"", "", "b"}, {"", "", "c"}}},
                    Row{"unknown_fields", "retry: 5\nfoo\nbar: x\ndata\n\n", {{"", "", ""}}},
                    Row{"spaces", "data:  a \n\n", {{"", "", " a "}}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::cli::event_stream_test
