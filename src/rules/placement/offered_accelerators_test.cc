#include <gtest/gtest.h>

#include "rules/placement/accelerator_map.h"
#include "rules/placement/device.h"
#include "rules/placement/engine_choice.h"
#include "rules/placement/quota.h"

namespace trainyard::placement::offered_accelerators_test {
namespace {

using ml::v1::AcceleratorConfig;
constexpr auto kT4 = AcceleratorConfig::NVIDIA_TESLA_T4;
constexpr auto kK80 = AcceleratorConfig::NVIDIA_TESLA_K80;
constexpr auto kTpu = AcceleratorConfig::TPU_V2;
constexpr const char* kOther = "asia-east1";  ///< a region that is not in `regions`

struct Row {
  const char* name;
  EngineChoice::Kind kind;
  const char* devices;  ///< of this machine
  bool has_cluster;
  const char* region;
  AcceleratorConfig::Type type;
  bool offers;
};

class RegionAccelerators : public testing::TestWithParam<Row> {};
TEST_P(RegionAccelerators, AreThoseOfItsEngine) {
  const Row& row = GetParam();
  EngineChoice options;
  options.kind = row.kind;
  if (row.has_cluster) {
    options.regions = {{"us-central1", EngineChoice::Kind::kSlurm},
                       {"europe-west1", EngineChoice::Kind::kLocal}};
  }
  const placement::DevicePool here(placement::ParseDeclaredDevices(row.devices).value(),
                                   placement::AcceleratorMap::Parse("nvidia-tesla-k80=nvidia-h200").value());
  const auto has = [&row](std::string_view engine) {
    EXPECT_EQ(engine, kSlurmEngine);
    return std::string_view(row.region) == "us-central1" && row.type == kT4;
  };
  std::function<bool(std::string_view)> there;
  if (row.has_cluster) there = has;
  EXPECT_EQ(OffersAccelerator(options, here, row.region, row.type, there), row.offers);
}

constexpr auto kLocal = EngineChoice::Kind::kLocal;
constexpr auto kSlurm = EngineChoice::Kind::kSlurm;
INSTANTIATE_TEST_SUITE_P(
    Rules, RegionAccelerators,
    testing::Values(
        Row{"a_machine_without_any_is_as_the_original", kLocal, "none", false, kOther, kTpu, true},
        Row{"its_gpus_stand_for_others", kLocal, "nvidia-h200=1", false, kOther, kT4, true},
        Row{"it_has_no_tpu", kLocal, "nvidia-h200=1", false, kOther, kTpu, false},
        Row{"a_board_is_enough", kLocal, "tpu-v2=8", false, kOther, kTpu, true},
        Row{"its_table_says_otherwise", kLocal, "nvidia-a100=1", false, kOther, kK80, false},
        Row{"the_partition_has_them", kLocal, "none", true, "us-central1", kT4, true},
        Row{"the_partition_has_not", kLocal, "nvidia-h200=1", true, "us-central1", kK80, false},
        Row{"a_region_of_this_machine", kLocal, "none", true, "europe-west1", kT4, false},
        Row{"a_region_of_this_machine_with_some", kSlurm, "nvidia-h200=1", true, "europe-west1", kT4, true},
        Row{"not_named_and_here", kLocal, "nvidia-h200=1", true, kOther, kT4, true},
        Row{"not_named_and_nowhere", kLocal, "none", true, kOther, kT4, false},
        Row{"not_named_and_slurms", kSlurm, "nvidia-h200=1", true, kOther, kT4, false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::placement::offered_accelerators_test
