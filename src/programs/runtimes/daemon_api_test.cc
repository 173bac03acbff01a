#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "programs/runtimes/daemon_api.h"
#include "programs/runtimes/daemon_api_request.h"

namespace trainyard::replica {
namespace {

std::string Frame(int stream, std::string_view output) {
  std::string frame(8, '\0');
  frame[0] = static_cast<char>(stream);
  for (std::size_t i = 0; i < 4; ++i) frame[7 - i] = static_cast<char>(output.size() >> (8 * i) & 0xFF);
  return frame.append(output);
}

TEST(DaemonFrames, AnyCutGivesTheSameOutput) {
  const std::string long_line(70'000, 'x');
  const std::string bytes =
      Frame(1, "out\n") + Frame(2, "") + Frame(2, "err") + Frame(1, long_line) + Frame(2, "\0!");
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{13}, bytes.size()}) {
    DaemonFrames frames;
    std::string out;
    std::string err;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const Status fed =
          frames.Feed(std::string_view(bytes).substr(at, piece), [&](int stream, std::string_view text) {
            (stream == 2 ? err : out).append(text);
            return Status();
          });
      ASSERT_TRUE(fed.has_value());
    }
    EXPECT_FALSE(frames.in_frame());
    EXPECT_EQ(out, "out\n" + long_line) << piece;
    EXPECT_EQ(err, "err") << piece;
  }
}

TEST(DaemonFrames, RefusesWhatIsNoFrameAndSeesACut) {
  const auto drop = [](int, std::string_view) { return Status(); };
  EXPECT_EQ(DaemonFrames().Feed("hello, I am a terminal", drop).error().code, Code::kDataLoss);
  EXPECT_EQ(DaemonFrames().Feed(std::string("\1\0\0\1\0\0\0\1x", 9), drop).error().code, Code::kDataLoss);
  DaemonFrames frames;
  EXPECT_TRUE(frames.Feed(Frame(1, "abc").substr(0, 10), drop).has_value());
  EXPECT_TRUE(frames.in_frame());
  const Error full{Code::kResourceExhausted, "full", {}};
  EXPECT_EQ(DaemonFrames().Feed(Frame(1, "abc"),
                                [&](int, std::string_view) -> Status { return std::unexpected(full); }),
            Status(std::unexpected(full)));
}

TEST(DaemonRequest, CreateHasAllThatTheContainerIs) {
  DaemonContainer container{.image = "sha256:1",
                            .argv = {"python3", "-m", "a b"},
                            .environment = {"A=1", "B=\"\n"},
                            .host_name = "cmle-training-master-1-0",
                            .labels = {{"trainyard.attempt", "1-master-replica-0-1"}},
                            .binds = {{.from = "/data/with:colon", .to = "/gcs"},
                                      {.from = "/h", .to = "/etc/hosts", .read_only = true}}};
  container.limits.set_memory_bytes(1 << 20);
  container.limits.set_cpus(1.5);
  container.limits.set_pids(100);
  container.limits.set_shared_memory_bytes(4096);
  EXPECT_EQ(boost::json::parse(CreateContainerBody(container)), boost::json::parse(R"({
    "Image": "sha256:1", "Entrypoint": ["python3", "-m", "a b"], "Cmd": [], "Env": ["A=1", "B=\"\n"],
    "Hostname": "cmle-training-master-1-0", "Labels": {"trainyard.attempt": "1-master-replica-0-1"},
    "AttachStdout": true, "AttachStderr": true,
    "HostConfig": {"NetworkMode": "host", "LogConfig": {"Type": "none"}, "Memory": 1048576, "MemorySwap": 1048576,
      "NanoCpus": 1500000000, "PidsLimit": 100, "ShmSize": 4096,
      "CapDrop": ["AUDIT_WRITE", "MKNOD", "NET_RAW"], "SecurityOpt": ["no-new-privileges"],
      "Mounts": [{"Type": "bind", "Source": "/data/with:colon", "Target": "/gcs", "ReadOnly": false},
                 {"Type": "bind", "Source": "/h", "Target": "/etc/hosts", "ReadOnly": true}]}})"));
}

TEST(DaemonRequest, ADeclaredGpuHasWhatTheMachineHas) {
  DaemonContainer container;
  container.devices.add_gpus("0");
  const auto host = [&](GpuWay way, std::string_view key) {
    container.gpu_way = way;
    const auto body = boost::json::parse(CreateContainerBody(container)).at("HostConfig").as_object();
    return body.contains(key) ? serialize(body.at(key)) : "";
  };
  EXPECT_EQ(host(GpuWay::kNvidiaRuntime, "DeviceRequests"), "") << "the machine has no GPU";
  container.files.nodes = {{"/dev/nvidia0", 'c', 195, 0}, {"/dev/nvidia-uvm", 'c', 511, 0}};
  container.files.binds = {{"/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", true}};
  EXPECT_EQ(
      host(GpuWay::kDeviceFiles, "Devices"),
      R"([{"PathOnHost":"/dev/nvidia0","PathInContainer":"/dev/nvidia0","CgroupPermissions":"rwm"},)"
      R"({"PathOnHost":"/dev/nvidia-uvm","PathInContainer":"/dev/nvidia-uvm","CgroupPermissions":"rwm"}])");
  EXPECT_THAT(host(GpuWay::kDeviceFiles, "Mounts"),
              testing::HasSubstr("/usr/local/nvidia/lib64/libcuda.so.1"));
  EXPECT_EQ(host(GpuWay::kNvidiaRuntime, "DeviceRequests"),
            R"([{"Driver":"nvidia","DeviceIDs":["0"],"Capabilities":[["gpu"]]}])");
  EXPECT_EQ(host(GpuWay::kNvidiaRuntime, "Devices"), "");
  container.devices.set_gpus(0, "1");
  container.environment = {"CUDA_VISIBLE_DEVICES=1"};
  EXPECT_THAT(CreateContainerBody(container), testing::HasSubstr(R"("Env":["CUDA_VISIBLE_DEVICES=0"])"))
      << "the container sees one GPU";
  EXPECT_EQ(host(GpuWay::kNvidiaRuntime, "Mounts"), "[]");
}

TEST(DaemonRequest, DevicesGoTheWayThatTheDaemonHas) {
  DaemonContainer container;
  container.devices.add_gpus("GPU-1");
  container.devices.add_device_files("/dev/nvidia0");
  container.devices.add_device_files("/dev/accel0");
  const auto host = [&](GpuWay way) {
    container.gpu_way = way;
    const auto body = boost::json::parse(CreateContainerBody(container)).at("HostConfig").as_object();
    const auto text = [&](std::string_view key) { return body.contains(key) ? serialize(body.at(key)) : ""; };
    return text("DeviceRequests") + text("Devices");
  };
  const std::string accel =
      R"({"PathOnHost":"/dev/accel0","PathInContainer":"/dev/accel0","CgroupPermissions":"rwm"}])";
  EXPECT_EQ(host(GpuWay::kDeviceFiles),
            R"([{"PathOnHost":"/dev/nvidia0","PathInContainer":"/dev/nvidia0","CgroupPermissions":"rwm"},)" +
                accel);
  EXPECT_EQ(host(GpuWay::kNvidiaRuntime),
            R"([{"Driver":"nvidia","DeviceIDs":["GPU-1"],"Capabilities":[["gpu"]]}][)" + accel);
  container.files.cdi_names = {"nvidia.com/gpu=GPU-1"};
  EXPECT_EQ(host(GpuWay::kDeviceInterface),
            R"([{"Driver":"cdi","DeviceIDs":["nvidia.com/gpu=GPU-1"]}][)" + accel);
  EXPECT_EQ(ParseGpuWay(R"({"Runtimes": {"nvidia": {}}})", "{}", false), GpuWay::kNvidiaRuntime);
  EXPECT_EQ(
      ParseGpuWay(R"({"Runtimes": {"nvidia": {}}})", R"({"Components": [{"Name": "Podman Engine"}]})", true),
      GpuWay::kDeviceInterface);
  EXPECT_EQ(ParseGpuWay(R"({"CDISpecDirs": ["/etc/cdi"]})", "{}", true), GpuWay::kDeviceInterface);
  EXPECT_EQ(ParseGpuWay("{}", "{}", true), GpuWay::kDeviceFiles);
  EXPECT_EQ(ParseGpuWay("garbage", "", true), GpuWay::kDeviceFiles);
}

TEST(DaemonAnswers, Image) {
  const auto image = ParseDaemonImage(R"({"Id": "sha256:6a", "Config": {"Entrypoint": ["/e"], "Cmd": null,
      "Env": ["A=1"], "WorkingDir": "/w", "User": "app", "StopSignal": "SIGINT", "Labels": {"l": "v"}}})");
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(image->id, "sha256:6a");
  EXPECT_EQ(image->config.entrypoint, std::vector<std::string>{"/e"});
  EXPECT_TRUE(image->config.command.empty());
  EXPECT_EQ(image->config.environment, std::vector<std::string>{"A=1"});
  EXPECT_EQ(image->config.working_dir + image->config.user + image->config.stop_signal, "/wappSIGINT");
  EXPECT_EQ(image->config.labels, (std::map<std::string, std::string>{{"l", "v"}}));
  EXPECT_EQ(PrintDaemonImage(*ParseDaemonImage(PrintDaemonImage(*image))), PrintDaemonImage(*image));
  EXPECT_EQ(ParseDaemonImage(PrintDaemonImage(*image))->config.entrypoint, image->config.entrypoint);
  for (const char* garbage : {"", "[]", "{", "null", "\xff"})
    EXPECT_EQ(ParseDaemonImage(garbage).error().code, Code::kDataLoss);
}

TEST(DaemonAnswers, State) {
  EXPECT_EQ(
      ParseContainerState(
          R"({"State": {"Running": false, "OOMKilled": true, "ExitCode": 137, "Error": "e", "Pid": 0}})"),
      (ContainerState{.exit_code = 137, .out_of_memory = true, .error = "e"}));
  EXPECT_EQ(ParseWaitStatus(R"({"Error": null, "StatusCode": 3})"), 3);
  EXPECT_EQ(ParseWaitStatus(R"({"StatusCode": -1})"), std::nullopt);
  EXPECT_EQ(ParseWaitStatus(R"({"message": "gone"})"), std::nullopt);
  EXPECT_EQ(ParseContainerState(R"({"State": {"Running": true, "Pid": 42, "ExitCode": "x"}})"),
            (ContainerState{.running = true, .pid = 42}));
  EXPECT_EQ(ParseContainerNames(R"([{"Names": ["/a", "b"]}, {}, 1])"), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(ParseContainerNames("{}").has_value());
}

TEST(DaemonAnswers, Progress) {
  EXPECT_EQ(ParseDaemonProgress(R"({"status":"Pulling from p/py","id":"v1"})"),
            (DaemonProgress{.line = "Pulling from p/py: v1"}));
  EXPECT_EQ(
      ParseDaemonProgress(R"({"status":"Downloading","progressDetail":{"current":1,"total":2},"id":"a"})"),
      DaemonProgress{});
  EXPECT_EQ(ParseDaemonProgress(R"({"stream":"Loaded image: x\n"})"),
            (DaemonProgress{.line = "Loaded image: x"}));
  EXPECT_EQ(ParseDaemonProgress(R"({"error":"no"})"), (DaemonProgress{.error = "no"}));
  EXPECT_EQ(ParseDaemonProgress("half a li"), DaemonProgress{});
}

struct ErrorRow {
  int status;
  const char* body;
  Code code;
  const char* message;
};
class Explains : public testing::TestWithParam<ErrorRow> {};
TEST_P(Explains, Answer) {
  const Error error = DaemonError("cannot x", GetParam().status, GetParam().body);
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_EQ(error.message, GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    Answers, Explains,
    testing::Values(
        ErrorRow{404, R"({"message": "no such image"})", Code::kNotFound, "cannot x: no such image"},
        ErrorRow{500, R"({"message": "exec: \"/n\": stat /n: no such file or directory"})",
                 Code::kFailedPrecondition, "cannot x: exec: \"/n\": stat /n: no such file or directory"},
        ErrorRow{400, "text\n", Code::kFailedPrecondition, "cannot x: text"},
        ErrorRow{500, "", Code::kUnavailable, "cannot x: the container engine answered 500"},
        ErrorRow{500, R"({"message": "unauthorized: authentication required"})", Code::kPermissionDenied,
                 "cannot x: unauthorized: authentication required"},
        ErrorRow{500, R"({"message": "write /x: no space left on device"})", Code::kResourceExhausted,
                 "cannot x: write /x: no space left on device"},
        ErrorRow{409, "{}", Code::kAlreadyExists, "cannot x: {}"}));

TEST(DaemonRequest, SplitsReferences) {
  EXPECT_EQ(Split("docker.io/library/busybox"), (SplitReference{"docker.io/library/busybox", "latest"}));
  EXPECT_EQ(Split("localhost:5000/a/b:v1"), (SplitReference{"localhost:5000/a/b", "v1"}));
  EXPECT_EQ(Split("localhost:5000/a/b"), (SplitReference{"localhost:5000/a/b", "latest"}));
  EXPECT_EQ(Split("r/a:v1@sha256:ab"), (SplitReference{"r/a", "sha256:ab"}));
}

TEST(DaemonRequest, FindsCredentials) {
  const std::string file =
      R"({"auths": {"r.io:5000": {"auth": "dTpwOng="}, "https://index.docker.io/v1/": {"auth": "YTpi"},
                                "t.io": {"identitytoken": "T"}}, "credHelpers": {"gcr.io": "gcloud"}})";
  // {"serveraddress":"r.io:5000","username":"u","password":"p:x"}
  EXPECT_EQ(RegistryAuth(file, "r.io:5000/a@sha256:1"),
            "eyJzZXJ2ZXJhZGRyZXNzIjoici5pbzo1MDAwIiwidXNlcm5hbWUiOiJ1IiwicGFzc3dvcmQiOiJwOngifQ==");
  // {"serveraddress":"https://index.docker.io/v1/","username":"a","password":"b"}
  EXPECT_EQ(RegistryAuth(file, "library/busybox"),
            "eyJzZXJ2ZXJhZGRyZXNzIjoiaHR0cHM6Ly9pbmRleC5kb2NrZXIuaW8vdjEvIiwidXNlcm5hbWUiOiJhIiwicGFzc3dvcmQi"
            "OiJiIn0=");
  // {"serveraddress":"t.io","identitytoken":"T"}
  EXPECT_EQ(RegistryAuth(file, "t.io/a"), "eyJzZXJ2ZXJhZGRyZXNzIjoidC5pbyIsImlkZW50aXR5dG9rZW4iOiJUIn0=");
  EXPECT_EQ(RegistryAuth(file, "other.io/a"), "");
  EXPECT_EQ(RegistryAuth(file, "gcr.io/a").error().code, Code::kFailedPrecondition);
  EXPECT_EQ(RegistryAuth("x", "gcr.io/a").error().code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace trainyard::replica
