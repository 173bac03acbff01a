#include "rules/placement/device_pool.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

namespace trainyard::placement {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Type = AcceleratorConfig;

Gang Asking(std::vector<std::pair<AcceleratorConfig::Type, int>> replicas) {
  Gang gang{.uid = 1, .job_id = "j", .create_time = {}, .replicas = {}};
  for (const auto& [type, count] : replicas)
    gang.replicas.push_back({.accelerator = type, .accelerator_count = count});
  return gang;
}

DevicePool Pool(std::string_view devices, std::string_view map = "") {
  return {ParseDeclaredDevices(devices).value(), AcceleratorMap::Parse(map).value()};
}

std::vector<std::string> Gpus(const std::optional<DevicePool::Gift>& gift, std::size_t replica) {
  if (!gift || gift->size() <= replica) return {"nothing"};
  return {(*gift)[replica].gpus().begin(), (*gift)[replica].gpus().end()};
}

struct Declared {
  const char* name;
  const char* text;
  const char* outcome;  ///< DescribeDevices, or the error's message
};
class ParseDeclared : public testing::TestWithParam<Declared> {};
TEST_P(ParseDeclared, Says) {
  const auto devices = ParseDeclaredDevices(GetParam().text);
  EXPECT_EQ(devices ? DescribeDevices(*devices) : devices.error().message, GetParam().outcome);
  if (!devices) EXPECT_EQ(devices.error().field, "--accelerators");
}
INSTANTIATE_TEST_SUITE_P(
    Texts, ParseDeclared,
    testing::Values(Declared{"one", "nvidia-tesla-t4=1", "1 GPU (nvidia-tesla-t4)"},
                    Declared{"two_types", "nvidia-tesla-t4=3,nvidia-h200=1,tpu-v2=8",
                             "4 GPUs (3 nvidia-tesla-t4, 1 nvidia-h200), 1 TPU (tpu-v2)"},
                    Declared{"two_boards", "tpu-v3=16", "2 TPUs (tpu-v3)"},
                    Declared{"none", "none", "no accelerators"},
                    Declared{"empty", "", "it must be NAME=NUMBER,... or none"},
                    Declared{"no_number", "nvidia-tesla-t4", "'nvidia-tesla-t4' is not NAME=VALUE"},
                    Declared{"no_name", "=4", "'=4' is not NAME=VALUE"},
                    Declared{"comma", "a=1,", "a NAME=VALUE is missing behind the last comma"},
                    Declared{"zero", "a=0", "the number of a must be between 1 and 1024"},
                    Declared{"text", "a=4x", "the number of a must be between 1 and 1024"},
                    Declared{"huge", "a=99999999999", "the number of a must be between 1 and 1024"},
                    Declared{"half_a_board", "tpu-v2=4",
                             "the number of tpu-v2 cores must be a multiple of 8"},
                    Declared{"upper_case", "NVIDIA_TESLA_T4=1",
                             "'NVIDIA_TESLA_T4' is not the name of an accelerator: nvidia-tesla-t4, tpu-v2"}),
    [](const auto& row) { return row.param.name; });

struct MapRow {
  const char* name;
  const char* text;
  const char* error;  ///< empty: fine
};
class ParseMap : public testing::TestWithParam<MapRow> {};
TEST_P(ParseMap, Says) {
  const auto map = AcceleratorMap::Parse(GetParam().text);
  EXPECT_EQ(map ? "" : map.error().message, GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    Texts, ParseMap,
    testing::Values(
        MapRow{"empty", "", ""}, MapRow{"all", "nvidia-tesla-k80=any,nvidia-tesla-p4=none,tpu-v2=tpu-v4", ""},
        MapRow{"unknown", "k80=any", "'k80' is not an accelerator of the API: nvidia-tesla-k80, tpu-v2, ..."},
        MapRow{"twice", "tpu-v2=any,tpu-v2=none", "'tpu-v2' has two rules"},
        MapRow{"cpu_for_tpu", "tpu-v2=cpu", ""},
        MapRow{"cpu_for_gpu", "nvidia-tesla-t4=cpu",
               "'cpu' can stand for TPUs only; nvidia-tesla-t4=none runs such jobs without a GPU"},
        MapRow{"gpu_for_tpu", "tpu-v2=nvidia-tesla-t4", "'nvidia-tesla-t4' cannot stand for tpu-v2"},
        MapRow{"tpu_for_gpu", "nvidia-tesla-t4=tpu-v2", "'tpu-v2' cannot stand for nvidia-tesla-t4"}),
    [](const auto& row) { return row.param.name; });

TEST(AcceleratorName, IsGcloudsAndComesBack) {
  EXPECT_EQ(AcceleratorName(Type::NVIDIA_TESLA_K80), "nvidia-tesla-k80");
  EXPECT_EQ(AcceleratorName(Type::TPU_V2_POD), "tpu-v2-pod");
  for (int number = 1; number <= Type::Type_MAX; ++number) {
    if (!Type::Type_IsValid(number)) continue;
    const auto type = static_cast<AcceleratorConfig::Type>(number);
    EXPECT_EQ(ParseAcceleratorName(AcceleratorName(type)), type);
  }
  EXPECT_EQ(ParseAcceleratorName("accelerator-type-unspecified"), Type::ACCELERATOR_TYPE_UNSPECIFIED);
}

TEST(DevicePool, GivesInOrderAndToOneHolderOnly) {
  DevicePool pool = Pool("nvidia-tesla-t4=4");
  const Gang two = Asking({{Type::NVIDIA_TESLA_T4, 1}, {Type::NVIDIA_TESLA_T4, 1}});
  const auto first = pool.Choose(two);
  EXPECT_THAT(Gpus(first, 0), ElementsAre("0"));
  EXPECT_THAT(Gpus(first, 1), ElementsAre("1"));
  EXPECT_EQ((*first)[0].accelerator_type(), "NVIDIA_TESLA_T4");
  pool.Take("a", {.job_id = "job_a"}, *first);
  EXPECT_EQ(pool.FreeOf(pool.Wanted(two)), 2U);
  EXPECT_THAT(Gpus(pool.Choose(two), 1), ElementsAre("3"));
  EXPECT_EQ(pool.Choose(Asking({{Type::NVIDIA_TESLA_K80, 4}})), std::nullopt) << "all or nothing";
  EXPECT_THAT(pool.HoldersOf(pool.Wanted(two)), ElementsAre(JobLabel{.job_id = "job_a"}));
  pool.Take("b", {.job_id = "job_b"}, *first);
  pool.Free("b");
  EXPECT_EQ(pool.FreeOf(pool.Wanted(two)), 2U) << "what a holds, b did not get and cannot free";
  pool.Free("a");
  EXPECT_THAT(Gpus(pool.Choose(Asking({{Type::NVIDIA_TESLA_K80, 4}})), 0), ElementsAre("0", "1", "2", "3"));
}

TEST(DevicePool, PrefersTheTypeThatWasAskedFor) {
  const DevicePool pool = Pool("nvidia-tesla-k80=2,nvidia-tesla-t4=1");
  EXPECT_THAT(Gpus(pool.Choose(Asking({{Type::NVIDIA_TESLA_T4, 1}})), 0), ElementsAre("2"));
  EXPECT_THAT(Gpus(pool.Choose(Asking({{Type::NVIDIA_TESLA_T4, 2}})), 0), ElementsAre("0", "1"))
      << "two of one model, although one T4 is free";
}

TEST(DevicePool, AReplicasAcceleratorsAreOfOneModel) {
  const DevicePool pool = Pool("nvidia-tesla-v100=4,nvidia-tesla-k80=4");
  const Gang eight = Asking({{Type::NVIDIA_TESLA_V100, 8}});
  EXPECT_EQ(pool.Choose(eight), std::nullopt);
  EXPECT_EQ(pool.LackOf(eight)->reason,
            "The job asks for 8 NVIDIA_TESLA_V100; this machine has 8 GPUs (4 nvidia-tesla-v100, 4 "
            "nvidia-tesla-k80). The accelerators of a replica are all of one model.");
  const Gang two_of_four = Asking({{Type::NVIDIA_TESLA_V100, 4}, {Type::NVIDIA_TESLA_V100, 4}});
  EXPECT_THAT(Gpus(pool.Choose(two_of_four), 0), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(Gpus(pool.Choose(two_of_four), 1), ElementsAre("4", "5", "6", "7"));
  const Gang small_before_large = Asking({{Type::NVIDIA_TESLA_V100, 1}, {Type::NVIDIA_TESLA_V100, 4}});
  EXPECT_THAT(Gpus(pool.Choose(small_before_large), 0), ElementsAre("4"));
  EXPECT_THAT(Gpus(pool.Choose(small_before_large), 1), ElementsAre("0", "1", "2", "3"));
}

/// All ways to give each replica a type.
bool AnyAssignment(const std::vector<int>& sizes, std::size_t next, int& first, int& second) {
  if (next == sizes.size()) return true;
  for (int* room : {&first, &second}) {
    if (*room < sizes[next]) continue;
    *room -= sizes[next];
    const bool fits = AnyAssignment(sizes, next + 1, first, second);
    *room += sizes[next];
    if (fits) return true;
  }
  return false;
}

TEST(DevicePool, FindsAnAssignmentOfModelsWheneverThereIsOne) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    int first = static_cast<int>(1 + random() % 9);
    int second = static_cast<int>(1 + random() % 9);
    std::vector<int> sizes;
    std::vector<std::pair<AcceleratorConfig::Type, int>> replicas;
    for (unsigned i = 0; i < 1 + random() % 5; ++i) {
      sizes.push_back(1 << random() % 4);
      replicas.emplace_back(Type::NVIDIA_TESLA_T4, sizes.back());
    }
    const DevicePool pool =
        Pool("nvidia-l4=" + std::to_string(first) + ",nvidia-tesla-t4=" + std::to_string(second));
    EXPECT_EQ(pool.Choose(Asking(replicas)).has_value(), AnyAssignment(sizes, 0, first, second));
  }
}

TEST(DevicePool, LeavesToTheChoosyWhatOnlyTheyCanTake) {
  const DevicePool pool = Pool("nvidia-tesla-t4=1,nvidia-tesla-p4=1", "nvidia-tesla-k80=nvidia-tesla-t4");
  const auto gift = pool.Choose(Asking({{Type::NVIDIA_TESLA_T4, 1}, {Type::NVIDIA_TESLA_K80, 1}}));
  EXPECT_THAT(Gpus(gift, 0), ElementsAre("1"));
  EXPECT_THAT(Gpus(gift, 1), ElementsAre("0"));
}

TEST(DevicePool, SaysWhatIsMissing) {
  struct Row {
    const char* devices;
    const char* map;
    Gang gang;
    std::size_t replica;
    const char* reason;
  };
  const Row rows[] = {
      {"none", "", Asking({{Type::NVIDIA_TESLA_K80, 1}}), 0,
       "The job asks for 1 NVIDIA_TESLA_K80; this machine has no accelerators."},
      {"nvidia-tesla-t4=4", "", Asking({{Type::NVIDIA_TESLA_K80, 4}, {Type::NVIDIA_TESLA_K80, 4}}), 1,
       "The job asks for 8 NVIDIA_TESLA_K80; this machine has 4 GPUs (nvidia-tesla-t4)."},
      {"nvidia-tesla-t4=4,nvidia-h200=1", "nvidia-tesla-k80=nvidia-h200",
       Asking({{Type::NVIDIA_TESLA_K80, 2}}), 0,
       "The job asks for 2 NVIDIA_TESLA_K80; this machine has 5 GPUs (4 nvidia-tesla-t4, 1 nvidia-h200), of "
       "which 1 "
       "counts as nvidia-tesla-k80."},
      {"nvidia-tesla-t4=1", "", Asking({{Type::NVIDIA_TESLA_T4, 1}, {Type::TPU_V2, 8}}), 1,
       "The job asks for 1 NVIDIA_TESLA_T4 and 8 TPU_V2; this machine has 1 GPU (nvidia-tesla-t4), of which "
       "0 count "
       "as tpu-v2."}};
  for (const Row& row : rows) {
    const auto lack = Pool(row.devices, row.map).LackOf(row.gang);
    ASSERT_TRUE(lack) << row.reason;
    EXPECT_EQ(lack->reason, row.reason);
    EXPECT_EQ(lack->replica, row.replica);
    EXPECT_THAT(lack->unblock, HasSubstr("--accelerator-map"));
  }
  EXPECT_FALSE(Pool("nvidia-tesla-t4=1").LackOf(Asking({{Type::NVIDIA_TESLA_T4, 1}})));
  EXPECT_FALSE(Pool("none").LackOf(Asking({{Type::ACCELERATOR_TYPE_UNSPECIFIED, 0}})));
}

TEST(DevicePool, ServesAKindThatIsThereOrWaived) {
  EXPECT_FALSE(Pool("none").Serves(Device::Kind::kGpu));
  EXPECT_TRUE(Pool("nvidia-tesla-t4=1").Serves(Device::Kind::kGpu));
  EXPECT_FALSE(Pool("nvidia-tesla-t4=1", "nvidia-tesla-k80=none").Serves(Device::Kind::kTpu));
  EXPECT_TRUE(Pool("none", "tpu-v3=none").Serves(Device::Kind::kTpu));
  EXPECT_TRUE(Pool("none", "tpu-v3=cpu").Serves(Device::Kind::kTpu));
}

TEST(DevicePool, WaivedAcceleratorsAreNotGivenAndSaid) {
  const DevicePool pool = Pool("nvidia-tesla-t4=1", "nvidia-tesla-k80=none");
  const Gang gang = Asking({{Type::NVIDIA_TESLA_K80, 4}, {Type::NVIDIA_TESLA_T4, 1}});
  const auto gift = pool.Choose(gang);
  EXPECT_THAT(Gpus(gift, 0), ElementsAre());
  EXPECT_THAT(Gpus(gift, 1), ElementsAre("0"));
  EXPECT_THAT(pool.Notes(gang), ElementsAre("The job asks for 4 NVIDIA_TESLA_K80; this server runs such jobs "
                                            "without accelerators (--accelerator-map)."));
  EXPECT_EQ((*gift)[0].waiver(), replica::v1::Devices::WITHOUT);
  EXPECT_EQ((*gift)[0].accelerator_type(), "NVIDIA_TESLA_K80");
  EXPECT_EQ((*gift)[1].waiver(), replica::v1::Devices::NOT_WAIVED);
  EXPECT_THAT(Gpus(pool.Choose(Asking({{Type::NVIDIA_TESLA_K80, 4}})), 0), ElementsAre());
  EXPECT_TRUE(pool.Choose(Asking({{Type::ACCELERATOR_TYPE_UNSPECIFIED, 0}}))->empty());
  EXPECT_TRUE(pool.Notes(Asking({{Type::NVIDIA_TESLA_T4, 1}})).empty());
}

TEST(DevicePool, SaysHowAJobRunsWithoutItsTpu) {
  const Gang gang = Asking({{Type::TPU_V2, 8}});
  const auto lack = Pool("none").LackOf(gang);
  ASSERT_TRUE(lack);
  EXPECT_THAT(lack->unblock,
              HasSubstr("--accelerator-map tpu-v2=cpu, which lets TensorFlow's TPUStrategy train "
                        "on the CPU"));
  EXPECT_THAT(
      Pool("tpu-v2=8").Notes(gang),
      ElementsAre(HasSubstr("gives the job's programs no device file of one. On a machine without a TPU, "
                            "--accelerator-map tpu-v2=cpu")));
  const DevicePool without = Pool("none", "tpu-v2=none");
  EXPECT_THAT(without.Notes(gang),
              ElementsAre("The job asks for 8 TPU_V2; this server runs such jobs without accelerators "
                          "(--accelerator-map).",
                          HasSubstr("With --accelerator-map tpu-v2=cpu such a program trains on the CPU")));
  const DevicePool cpu = Pool("none", "tpu-v2=cpu");
  EXPECT_FALSE(cpu.LackOf(gang));
  EXPECT_TRUE(cpu.DemandOf(gang).empty());
  EXPECT_EQ(cpu.Choose(gang)->at(0).waiver(), replica::v1::Devices::CPU_FOR_TPU);
  EXPECT_THAT(cpu.Notes(gang), ElementsAre(HasSubstr("on this server the CPU takes the TPU's place")));
}

TEST(DevicePool, ATpuIsGivenByTheBoard) {
  DevicePool pool(
      {{.kind = Device::Kind::kTpu, .type = "tpu-v3", .id = "0", .files = {"/dev/accel0", "/dev/accel1"}}},
      {});
  const Gang gang = Asking({{Type::TPU_V2, 8}});
  const auto gift = pool.Choose(gang);
  ASSERT_TRUE(gift);
  EXPECT_EQ((*gift)[0].tpu_node_name(), "cmle-training-0-tpu");
  EXPECT_THAT((*gift)[0].device_files(), ElementsAre("/dev/accel0", "/dev/accel1"));
  EXPECT_TRUE((*gift)[0].gpus().empty());
  pool.Take("a", {.job_id = "a"}, *gift);
  EXPECT_FALSE(pool.Choose(gang));
  EXPECT_TRUE(Pool("nvidia-tesla-t4=9").LackOf(gang)) << "a GPU is no TPU";
}

TEST(DevicePool, AFormerServersDevicesAreFoundByIdOrFile) {
  DevicePool pool({{.type = "nvidia-h200", .id = "GPU-a", .files = {"/dev/nvidia0"}},
                   {.type = "nvidia-h200", .id = "GPU-b", .files = {"/dev/nvidia1"}}},
                  {});
  replica::v1::Devices by_file;
  by_file.add_gpus("1");
  by_file.add_device_files("/dev/nvidia1");
  replica::v1::Devices vanished;
  vanished.add_gpus("GPU-z");
  pool.Take("a", {.job_id = "a"}, {by_file, vanished});
  EXPECT_THAT(Gpus(pool.Choose(Asking({{Type::NVIDIA_TESLA_T4, 1}})), 0), ElementsAre("GPU-a"));
}

DeviceSigns Signs(const Device& device, std::vector<std::uint64_t> xids = {}) {
  return {.device = device, .xids = std::move(xids)};
}

TEST(DevicePool, ADeviceInTroubleIsOutUntilItAnswersAgain) {
  DevicePool pool = Pool("nvidia-tesla-t4=2");
  const std::vector<Device> both = pool.devices();
  const Gang one = Asking({{Type::NVIDIA_TESLA_T4, 1}});
  const Gang two = Asking({{Type::NVIDIA_TESLA_T4, 2}});
  pool.Take("7", {.job_id = "census"}, *pool.Choose(one));
  const auto lost = pool.Observe(std::vector{Signs(both[1])});
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].device, both[0]);
  EXPECT_EQ(lost[0].trouble, "it does not answer");
  EXPECT_EQ(lost[0].holder, "7") << "its job keeps it";
  EXPECT_EQ(pool.TroubleOf(0), "it does not answer");
  EXPECT_THAT(Gpus(pool.Choose(one), 0), ElementsAre("1"));
  EXPECT_THAT(pool.Wanted(two), ElementsAre(1)) << "jobs behind are not held back by what nobody can get";
  EXPECT_EQ(
      pool.LackOf(two)->reason,
      "The job asks for 2 NVIDIA_TESLA_T4; this machine has 2 GPUs (nvidia-tesla-t4). Out of service: 0 "
      "(it does not answer).");
  EXPECT_TRUE(pool.Observe(std::vector{Signs(both[1])}).empty()) << "said once";
  const auto back = pool.Observe(std::vector{Signs(both[0]), Signs(both[1])});
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].trouble_before, "it does not answer");
  EXPECT_EQ(back[0].trouble, "");
  EXPECT_FALSE(pool.LackOf(two));
}

TEST(DevicePool, ADeviceThatComesIsAdded) {
  DevicePool pool = Pool("none");
  const Device gpu{.type = "nvidia-l4", .id = "GPU-a", .files = {"/dev/nvidia0"}};
  const auto came = pool.Observe(std::vector{Signs(gpu)});
  ASSERT_EQ(came.size(), 1U);
  EXPECT_TRUE(came[0].is_new);
  EXPECT_THAT(Gpus(pool.Choose(Asking({{Type::NVIDIA_TESLA_T4, 1}})), 0), ElementsAre("GPU-a"));
  EXPECT_THAT(pool.Observe(std::vector{Signs(gpu, {79})}), testing::SizeIs(1));
  EXPECT_EQ(pool.Choose(Asking({{Type::NVIDIA_TESLA_T4, 1}})), std::nullopt);
}

TEST(DevicePool, AReplicaHasOneMigDeviceAtMost) {
  const auto part = [](std::string id, std::string own) {
    return Device{.type = "nvidia-a100-mig-1g-5gb",
                  .id = std::move(id),
                  .files = {std::move(own), "/dev/nvidia-caps/nvidia-cap3", "/dev/nvidia0"}};
  };
  DevicePool pool(
      {part("MIG-a", "/dev/nvidia-caps/nvidia-cap4"), part("MIG-b", "/dev/nvidia-caps/nvidia-cap5")}, {});
  const Gang one = Asking({{Type::NVIDIA_TESLA_A100, 1}});
  const Gang two = Asking({{Type::NVIDIA_TESLA_A100, 2}});
  EXPECT_EQ(pool.Choose(two), std::nullopt);
  EXPECT_THAT(pool.LackOf(two)->reason, HasSubstr("A replica can use one MIG device only."));
  const auto first = pool.Choose(one);
  EXPECT_THAT(Gpus(first, 0), ElementsAre("MIG-a"));
  pool.Take("1", {.job_id = "a"}, *first);
  EXPECT_THAT(Gpus(pool.Choose(one), 0), ElementsAre("MIG-b")) << "the files that both have do not count";
}

TEST(DevicePool, ADriverThatWakesUpNamesTheSameDevice) {
  DevicePool pool({{.type = "nvidia-gpu", .id = "0", .files = {"/dev/nvidia0"}}}, {});
  const Device named{.type = "nvidia-l4", .id = "GPU-a", .files = {"/dev/nvidia0"}};
  EXPECT_TRUE(pool.Observe(std::vector{Signs(named)}).empty());
  EXPECT_EQ(pool.devices(), std::vector{named});
}

TEST(DevicePool, NoDeviceIsEverHeldTwice) {
  std::mt19937 random(11);
  DevicePool pool = Pool("nvidia-tesla-t4=5,nvidia-tesla-v100=3", "nvidia-tesla-v100=nvidia-tesla-v100");
  std::map<std::string, std::set<std::string>> held;
  for (int round = 0; round < 5000; ++round) {
    const std::string holder = std::to_string(random() % 6);
    if (held.contains(holder)) {
      pool.Free(holder);
      held.erase(holder);
      continue;
    }
    const Gang gang = Asking({{Type::NVIDIA_TESLA_T4, static_cast<int>(random() % 4)},
                              {Type::NVIDIA_TESLA_V100, static_cast<int>(random() % 3)}});
    const auto gift = pool.Choose(gang);
    if (!gift) continue;
    pool.Take(holder, {.job_id = holder}, *gift);
    std::set<std::string>& mine = held[holder];
    for (const auto& devices : *gift) mine.insert(devices.gpus().begin(), devices.gpus().end());
    EXPECT_EQ(static_cast<std::int64_t>(mine.size()),
              gang.replicas[0].accelerator_count + gang.replicas[1].accelerator_count);
    for (const auto& [other, gpus] : held) {
      for (const std::string& gpu : gpus) EXPECT_TRUE(other == holder || !mine.contains(gpu)) << gpu;
    }
  }
}

TEST(DevicePool, ARunThatAsksForAnyGpuReadsNoType) {
  Gang any = Asking({{Type::NVIDIA_TESLA_V100, 1}});
  any.any_gpu = true;
  EXPECT_EQ(AskedAccelerators(any), "1 GPU");
  EXPECT_EQ(Pool("none", "").LackOf(any)->reason,
            "The job asks for 1 GPU; this machine has no accelerators.");
  any.replicas.push_back(any.replicas.front());
  EXPECT_EQ(AskedAccelerators(any), "2 GPUs");
}

}  // namespace
}  // namespace trainyard::placement
