#include "rules/jobs/accelerator_quota.h"

#include <gtest/gtest.h>

#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {
namespace {

using ml::v1::AcceleratorConfig;

constexpr std::string_view kNothing =
    "NVIDIA_TESLA_A100=0,NVIDIA_TESLA_K80=0,NVIDIA_TESLA_P100=0,NVIDIA_TESLA_P4=0,NVIDIA_TESLA_T4=0,TPU_V2=0,"
    "TPU_V2_POD=0,TPU_V3=0,TPU_V3_POD=0,NVIDIA_TESLA_V100=0";

TEST(AcceleratorQuotaTest, RefusesInTheOriginalsWords) {
  const AcceleratorCounts quota = ParseAcceleratorQuota(kNothing).value();
  const Status status =
      CheckAcceleratorQuota(quota, "P", {.held = {}, .asked = {{AcceleratorConfig::NVIDIA_TESLA_K80, 2}}});
  ASSERT_FALSE(status);
  const std::string middle =
      "The request for 2 K80 accelerators exceeds the allowed maximum of 0 A100, 0 K80, 0 P100, 0 P4, 0 T4, "
      "0 "
      "TPU_V2, 0 TPU_V2_POD, 0 TPU_V3, 0 TPU_V3_POD, 0 V100 accelerators.";
  EXPECT_EQ(status.error(),
            (Error{.code = Code::kResourceExhausted,
                   .message = "Quota failure for project P. " + middle +
                              " The server's operator sets it: trainyard serve --quota-accelerators.",
                   .field = "",
                   .violations = {{.field = "P", .description = middle}}}));
}

struct Row {
  const char* name;
  const char* quota;
  AcceleratorCounts held;
  AcceleratorCounts asked;
  const char* description;  ///< "": allowed
};

class AcceleratorQuota : public testing::TestWithParam<Row> {};

TEST_P(AcceleratorQuota, Decides) {
  const Row& row = GetParam();
  const Status status = CheckAcceleratorQuota(ParseAcceleratorQuota(row.quota).value(), "p",
                                              {.held = row.held, .asked = row.asked});
  EXPECT_EQ(status ? "" : status.error().violations.at(0).description, row.description);
}

constexpr auto kK80 = AcceleratorConfig::NVIDIA_TESLA_K80;
constexpr auto kTpu = AcceleratorConfig::TPU_V2;

INSTANTIATE_TEST_SUITE_P(
    Rules, AcceleratorQuota,
    testing::Values(
        Row{"no_quota", "", {{kK80, 100}}, {{kK80, 8}}, ""},
        Row{"just_fits", "NVIDIA_TESLA_K80=4", {{kK80, 2}}, {{kK80, 2}}, ""},
        Row{"one_too_many",
            "NVIDIA_TESLA_K80=4",
            {},
            {{kK80, 5}},
            "The request for 5 K80 accelerators exceeds the allowed maximum of 4 K80 accelerators."},
        Row{"others_hold_them",
            "NVIDIA_TESLA_K80=4",
            {{kK80, 3}},
            {{kK80, 2}},
            "The request for 2 K80 accelerators exceeds the allowed maximum of 4 K80 accelerators. "
            "Unfinished jobs of the project use 3 K80."},
        Row{"held_of_another_type", "NVIDIA_TESLA_K80=4", {{kTpu, 8}}, {{kK80, 4}}, ""},
        Row{"unlimited_type", "NVIDIA_TESLA_K80=0", {}, {{kTpu, 8}}, ""},
        Row{"asks_for_none", "NVIDIA_TESLA_K80=0", {{kK80, 1}}, {}, ""},
        Row{"two_types",
            "NVIDIA_TESLA_K80=1,TPU_V2=0",
            {},
            {{kK80, 2}, {kTpu, 8}},
            "The request for 2 K80, 8 TPU_V2 accelerators exceeds the allowed maximum of 1 K80, 0 TPU_V2 "
            "accelerators."},
        Row{"one_of_two_types",
            "NVIDIA_TESLA_K80=1,TPU_V2=8",
            {},
            {{kK80, 2}, {kTpu, 8}},
            "The request for 2 K80 accelerators exceeds the allowed maximum of 1 K80, 8 TPU_V2 "
            "accelerators."},
        Row{"a_type_of_vertex",
            "NVIDIA_A100_80GB=1,NVIDIA_TESLA_A100=8",
            {},
            {{AcceleratorConfig::NVIDIA_A100_80GB, 2}},
            "The request for 2 NVIDIA_A100_80GB accelerators exceeds the allowed maximum of 8 A100, 1 "
            "NVIDIA_A100_80GB accelerators."}),
    [](const auto& row) { return row.param.name; });

TEST(AcceleratorQuotaTest, ReadsItsText) {
  EXPECT_EQ(ParseAcceleratorQuota("NVIDIA_TESLA_K80=2,TPU_V2=0").value(),
            (AcceleratorCounts{{kK80, 2}, {kTpu, 0}}));
  for (const char* bad : {"K80=2", "NVIDIA_TESLA_K80", "NVIDIA_TESLA_K80=", "NVIDIA_TESLA_K80=x",
                          "NVIDIA_TESLA_K80=-1", "ACCELERATOR_TYPE_UNSPECIFIED=1", "=1",
                          "NVIDIA_TESLA_K80=1,NVIDIA_TESLA_K80=2", "NVIDIA_TESLA_K80=99999999999999999999"}) {
    EXPECT_FALSE(ParseAcceleratorQuota(bad)) << bad;
  }
}

TEST(AcceleratorQuotaTest, CountsAllReplicas) {
  ml::v1::TrainingInput input;
  input.set_scale_tier(ml::v1::TrainingInput::BASIC_GPU);
  EXPECT_EQ(AcceleratorsOf(input), (AcceleratorCounts{{kK80, 1}}));
  input.set_scale_tier(ml::v1::TrainingInput::BASIC_TPU);
  EXPECT_EQ(AcceleratorsOf(input), (AcceleratorCounts{{kTpu, 8}}));
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("complex_model_m_gpu");
  input.set_worker_type("n1-standard-16");
  input.set_worker_count(3);
  input.mutable_worker_config()->mutable_accelerator_config()->set_type(kK80);
  input.mutable_worker_config()->mutable_accelerator_config()->set_count(2);
  EXPECT_EQ(AcceleratorsOf(input), (AcceleratorCounts{{kK80, 4 + 3 * 2}}));
}

}  // namespace
}  // namespace trainyard::jobs
