#include "net/access/gate.h"

#include <gtest/gtest.h>

#include <optional>

namespace trainyard::access::page_rules_test {
namespace {

constexpr const char* kHost = "localhost:8470";
constexpr const char* kJobs = "/v1/projects/p/jobs";

struct Row {
  const char* name;
  bool is_read;
  const char* path;
  std::optional<const char*> origin;
  const char* site;
  bool allowed;
  const char* host = kHost;
};

class Page : public testing::TestWithParam<Row> {};

TEST_P(Page, IsChecked) {
  const Row& row = GetParam();
  const PageFacts facts{.is_read = row.is_read,
                        .path = row.path,
                        .host = row.host,
                        .has_origin = row.origin.has_value(),
                        .origin = row.origin.value_or(""),
                        .sec_fetch_site = row.site};
  const Status checked = CheckPage(facts);
  EXPECT_EQ(checked.has_value(), row.allowed);
  if (!checked) EXPECT_EQ(checked.error().code, Code::kPermissionDenied);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Page,
    testing::Values(
        Row{"program_writes", false, kJobs, std::nullopt, "", true},
        Row{"program_reads", true, kJobs, std::nullopt, "", true},
        Row{"own_page_writes", false, kJobs, "http://localhost:8470", "same-origin", true},
        Row{"own_page_of_an_old_browser", false, kJobs, "http://LOCALHOST:8470", "", true},
        Row{"behind_tls", false, kJobs, "https://train.example.com", "same-origin", true,
            "train.example.com"},
        Row{"default_port", false, kJobs, "https://localhost", "", true, "localhost:443"},
        Row{"typed_by_the_user", true, kJobs, std::nullopt, "none", true},
        Row{"foreign_page_writes", false, kJobs, "https://evil.example", "cross-site", false},
        Row{"foreign_origin_alone", false, kJobs, "https://evil.example", "", false},
        Row{"foreign_site_alone", false, kJobs, std::nullopt, "cross-site", false},
        Row{"foreign_form", false, kJobs, "null", "cross-site", false},
        Row{"empty_origin", false, kJobs, "", "", false},
        Row{"other_port", false, kJobs, "http://localhost:3000", "same-site", false},
        Row{"other_port_alone", false, kJobs, "http://localhost:3000", "", false},
        Row{"same_site_alone", true, kJobs, std::nullopt, "same-site", false},
        Row{"own_origin_but_cross_site", false, kJobs, "http://localhost:8470", "cross-site", false},
        Row{"unknown_site", true, kJobs, std::nullopt, "new-word", false},
        Row{"prefix_of_host", false, kJobs, "http://localhost:84", "", false},
        Row{"host_as_user", false, kJobs, "http://localhost:8470@evil.example", "", false},
        Row{"other_scheme", false, kJobs, "ftp://localhost:8470", "", false},
        Row{"origin_without_host", false, kJobs, "http://", "", false, ""},
        Row{"foreign_page_reads_jobs", true, kJobs, "https://evil.example", "cross-site", false},
        Row{"foreign_page_reads_an_object", true, "/storage/v1/b/b/o/o", std::nullopt, "cross-site", false},
        Row{"foreign_page_reads_metrics", true, "/metrics", std::nullopt, "cross-site", false},
        Row{"foreign_link_to_the_root", true, "/", std::nullopt, "cross-site", true},
        Row{"foreign_page_reads_discovery", true, "/$discovery/rest", "https://evil.example", "cross-site",
            true},
        Row{"foreign_page_reads_an_api", true, "/discovery/v1/apis/ml/v1/rest", "https://evil.example", "",
            true},
        Row{"foreign_page_asks_for_health", true, "/healthz", "https://evil.example", "cross-site", true},
        Row{"foreign_post_to_health", false, "/healthz", "https://evil.example", "cross-site", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::access::page_rules_test
