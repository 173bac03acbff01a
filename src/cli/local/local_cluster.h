#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What `local train` tells its processes. Pure: any thread. Source: gcloud's local_train.py, compared with
/// it in tests/e2e/test_local_train.py.
namespace trainyard::cli {

struct LocalCluster {
  std::string primary = "chief";  ///< "master" for TensorFlow 1
  int workers = 2;
  int parameter_servers = 2;
  int evaluators = 0;
  std::uint16_t start_port = 0;  ///< the primary's; parameter servers and workers follow
};

struct LocalTask {
  std::string type;
  int index = 0;
};

/// In the order in which they start: parameter servers, workers, evaluators, the primary last.
[[nodiscard]] std::vector<LocalTask> Tasks(const LocalCluster& cluster);

/// TF_CONFIG of one task, as Python's json.dumps prints it: the job is the module and its arguments.
[[nodiscard]] std::string LocalTfConfig(const LocalCluster& cluster, const LocalTask& task,
                                        const std::string& module, const std::vector<std::string>& args);

/// TF_CONFIG of a single process: no task and no cluster.
[[nodiscard]] std::string LocalTfConfig(const std::string& module, const std::vector<std::string>& args);

/// A JSON string in ASCII, as json.dumps prints a command line argument that Python has decoded.
[[nodiscard]] std::string PythonJsonString(std::string_view bytes);

}  // namespace trainyard::cli
