#include "stores/metrics/prometheus_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainyard::metrics {
namespace {

TEST(PrometheusText, Format) {
  PrometheusText text;
  text.Family("trainyard_jobs", "gauge", "Unfinished jobs.");
  text.Add({{"state", "RUNNING"}}, 3);
  text.Add({{"state", "a\"b\\c\nd"}, {"x", "y"}}, 0.25);
  text.Family("trainyard_log_bytes_total", "counter", "Bytes.");
  text.Add(1e15);
  text.Add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(text.Take(),
            "# HELP trainyard_jobs Unfinished jobs.\n"
            "# TYPE trainyard_jobs gauge\n"
            "trainyard_jobs{state=\"RUNNING\"} 3\n"
            "trainyard_jobs{state=\"a\\\"b\\\\c\\nd\",x=\"y\"} 0.25\n"
            "# HELP trainyard_log_bytes_total Bytes.\n"
            "# TYPE trainyard_log_bytes_total counter\n"
            "trainyard_log_bytes_total 1e+15\n"
            "trainyard_log_bytes_total +Inf\n");
  EXPECT_EQ(text.Take(), "");
}

}  // namespace
}  // namespace trainyard::metrics
