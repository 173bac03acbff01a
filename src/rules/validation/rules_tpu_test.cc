#include <gtest/gtest.h>

#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Tpus, Table,
    testing::Values(
        Row{"basic", kPackage, "scale_tier: BASIC_TPU runtime_version: '2.1'", ""},
        Row{"basic_region", "",
            "scale_tier: BASIC_TPU package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'us-east1'",
            "region: TPU_V2"},
        Row{"v3", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: TPU_V3 "
            "count: 8 } }",
            ""},
        Row{"legacy", kPackage,
            "scale_tier: CUSTOM master_type: 'large_model' worker_type: 'cloud_tpu' worker_count: 1", ""},
        Row{"legacy_v3", kPackage,
            "scale_tier: CUSTOM master_type: 'large_model' worker_type: 'cloud_tpu' worker_count: 1 "
            "worker_config { accelerator_config { "
            "type: TPU_V3 count: 8 } }",
            "worker_config.accelerator_config: "},
        Row{"four_cores", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: TPU_V2 "
            "count: 4 } }",
            "worker_config.accelerator_config.count: "},
        Row{"pod", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: TPU_V2_POD "
            "count: 32 } }",
            "worker_config.accelerator_config.type: "},
        Row{"tpu_of_vertex", kPackage,
            "scale_tier: CUSTOM master_type: 'cloud-tpu' master_config { accelerator_config { type: "
            "TPU_V4_POD "
            "count: 8 } }",
            ""},
        Row{"tpu_that_the_machine_brings", kPackage, "scale_tier: CUSTOM master_type: 'ct5lp-hightpu-4t'",
            ""},
        Row{"tpu_of_vertex_on_n1", kCustom,
            "master_config { accelerator_config { type: TPU_V5_LITEPOD count: 4 } }",
            "master_config.accelerator_config.type: TPU_V5_LITEPOD accelerators cannot be attached to the "
            "machine type n1-standard-4. Machine types with 4 of them: ct5lp-hightpu-4t."},
        Row{"tpu_of_vertex_as_a_worker", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: "
            "TPU_V5_LITEPOD count: 8 } }",
            "worker_config.accelerator_config.type: A cloud_tpu worker can have TPU_V2 or TPU_V3"},
        Row{"gpu_on_tpu", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 worker_config { accelerator_config { type: "
            "NVIDIA_TESLA_K80 count: 8 } }",
            "worker_config.accelerator_config.type: "},
        Row{"two_workers", kCustom, "worker_type: 'cloud_tpu' worker_count: 2", "worker_count: "},
        Row{"ps", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 parameter_server_type: 'n1-standard-4' "
            "parameter_server_count: 1",
            "parameter_server_count: "},
        Row{"runtime", kCustom, "worker_type: 'cloud_tpu' worker_count: 1 runtime_version: '2.11'",
            "runtime_version: "},
        Row{"runtime_first_without", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 runtime_version: '2.3'", "runtime_version: "},
        Row{"runtime_that_is_replaced", kCustom,
            "worker_type: 'cloud_tpu' worker_count: 1 runtime_version: '1.9'", ""},
        Row{"container", kContainer,
            "scale_tier: CUSTOM master_type: 'n1-highcpu-16' worker_type: 'cloud_tpu' worker_count: 1 "
            "worker_config { image_uri: 'gcr.io/p/i' "
            "tpu_tf_version: '2.2' accelerator_config { type: TPU_V2 count: 8 } }",
            ""},
        Row{"container_no_version", kContainer, "scale_tier: BASIC_TPU", "worker_config.tpu_tf_version: "},
        Row{"container_bad_version", kContainer,
            "scale_tier: BASIC_TPU worker_config { tpu_tf_version: '2.11' }",
            "worker_config.tpu_tf_version: "},
        Row{"version_without_tpu", kContainer, "worker_config { tpu_tf_version: '2.2' }",
            "worker_config.tpu_tf_version: "},
        Row{"version_without_container", kPackage,
            "scale_tier: BASIC_TPU worker_config { tpu_tf_version: '2.2' }",
            "worker_config.tpu_tf_version: "}),
    RowName);

}  // namespace
}  // namespace trainyard::jobs
