#include <gtest/gtest.h>

#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Machines, Table,
    testing::Values(
        Row{"plain", kPackage, "", ""}, Row{"basic", kPackage, "scale_tier: BASIC", ""},
        Row{"premium", kPackage, "scale_tier: PREMIUM_1", ""},
        Row{"count_with_basic", kPackage, "worker_count: 2",
            "worker_count: This value can only be used when scale_tier is set to CUSTOM."},
        Row{"custom_no_master", kPackage, "scale_tier: CUSTOM", "master_type: "},
        Row{"unknown_type", kPackage, "scale_tier: CUSTOM master_type: 'n1-standard-5'",
            "master_type: The specified machine type for master is not supported: n1-standard-5. There are: "
            "n1-standard-4, "},
        Row{"count_no_type", kCustom, "worker_count: 1", "worker_type: "},
        Row{"type_no_count", kCustom, "worker_type: 'n1-standard-4'", "worker_count: "},
        Row{"mixed", kCustom, "worker_count: 1 worker_type: 'standard'",
            "worker_type: The machine types must be of one category"},
        Row{"mixed_evaluator", kCustom, "evaluator_count: 1 evaluator_type: 'large_model'",
            "evaluator_type: "},
        Row{"legacy_all", kPackage,
            "scale_tier: CUSTOM master_type: 'standard' worker_type: 'large_model' worker_count: 1", ""},
        Row{"master_tpu", kPackage, "scale_tier: CUSTOM master_type: 'cloud_tpu'",
            "master_type: The specified machine type for masteris not supported in TPU training jobs: "
            "cloud_tpu"},
        Row{"ps_tpu", kCustom, "parameter_server_type: 'cloud_tpu' parameter_server_count: 1",
            "parameter_server_type: The specified machine type for parameter_serveris not supported"},
        Row{"no_region", "", "package_uris: 'gs://bucket/t.tgz' python_module: 't'",
            "region: This field is required."},
        Row{"region_misspelt", "",
            "package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'us-centrall'",
            "region: The specified region 'us-centrall' is not supported. Did you mean 'us-central1'?"},
        Row{"region_of_another_service", "",
            "package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'frankfurt'",
            "region: The specified region 'frankfurt' is not supported. Regions: "},
        Row{"unknown_region", "", "package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'nowhere-1'",
            "region: "},
        Row{"gpu", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 4 } }", ""},
        Row{"gpu_three", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 3 } }",
            "master_config.accelerator_config.count: The machine type n1-standard-4 cannot have 3 "
            "NVIDIA_TESLA_K80 accelerators. "
            "Allowed numbers: 1, 2, 4, 8."},
        Row{"gpu_a100", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_A100 count: 1 } }",
            "master_config.accelerator_config.type: "},
        Row{"gpu_of_vertex", kPackage,
            "scale_tier: CUSTOM master_type: 'a3-highgpu-8g' master_config { accelerator_config { type: "
            "NVIDIA_H100_80GB count: 8 } }",
            ""},
        Row{"gpu_that_the_machine_brings", kPackage, "scale_tier: CUSTOM master_type: 'g2-standard-4'", ""},
        Row{"gpu_of_vertex_on_n1", kCustom,
            "master_config { accelerator_config { type: NVIDIA_L4 count: 4 } }",
            "master_config.accelerator_config.type: NVIDIA_L4 accelerators cannot be attached to the machine "
            "type n1-standard-4. Machine types with 4 of them: g2-standard-48."},
        Row{"gpu_of_vertex_too_many", kPackage,
            "scale_tier: CUSTOM master_type: 'g2-standard-4' master_config { accelerator_config { type: "
            "NVIDIA_L4 count: 2 } }",
            "master_config.accelerator_config.count: The machine type g2-standard-4 cannot have 2 NVIDIA_L4 "
            "accelerators. Allowed numbers: 1."},
        Row{"gpu_of_the_original_on_g2", kPackage,
            "scale_tier: CUSTOM master_type: 'g2-standard-4' master_config { accelerator_config { type: "
            "NVIDIA_TESLA_T4 count: 1 } }",
            "master_config.accelerator_config.type: NVIDIA_TESLA_T4 accelerators cannot be attached to the "
            "machine type g2-standard-4. Machine types with 1 of them: n1-standard-4, "},
        Row{"families_of_vertex", kPackage,
            "scale_tier: CUSTOM master_type: 'm3-ultramem-32' worker_type: 'e2-standard-4' worker_count: 2",
            ""},
        Row{"vertex_and_legacy", kPackage,
            "scale_tier: CUSTOM master_type: 'e2-standard-4' worker_type: 'standard' worker_count: 1",
            "worker_type: The machine types must be of one category"},
        Row{"gpu_no_type", kCustom, "master_config { accelerator_config { count: 1 } }",
            "master_config.accelerator_config.type: "},
        Row{"gpu_no_count", kCustom, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 } }",
            "master_config.accelerator_config.count: "},
        Row{"gpu_none", kCustom, "master_config { accelerator_config { } }", ""},
        Row{"gpu_negative", kCustom,
            "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: -1 } }",
            "master_config.accelerator_config.count: "},
        Row{"gpu_legacy", kPackage,
            "scale_tier: CUSTOM master_type: 'standard' master_config { accelerator_config { type: "
            "NVIDIA_TESLA_K80 count: 1 } }",
            "master_config.accelerator_config: Accelerators can only be attached to Compute Engine machine "
            "types"},
        Row{"gpu_basic", kPackage, "master_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 1 } }",
            "master_config.accelerator_config: This value can only be used when scale_tier is set to "
            "CUSTOM."},
        Row{"gpu_no_replica", kCustom,
            "worker_config { accelerator_config { type: NVIDIA_TESLA_K80 count: 1 } }",
            "worker_config.accelerator_config: "},
        Row{"tpu_on_master", kCustom, "master_config { accelerator_config { type: TPU_V2 count: 8 } }",
            "master_config.accelerator_config.type: "},
        Row{"basic_gpu", kPackage, "scale_tier: BASIC_GPU", ""},
        Row{"basic_gpu_region", "",
            "scale_tier: BASIC_GPU package_uris: 'gs://bucket/t.tgz' python_module: 't' region: 'us-west3'",
            "region: NVIDIA_TESLA_K80 accelerators are not available in region us-west3. Regions with all "
            "accelerators of the job: asia-east1, europe-west1, europe-west4, us-central1, "},
        Row{"disk", kPackage,
            "master_config { disk_config { boot_disk_type: 'pd-standard' boot_disk_size_gb: 500 } }", ""},
        Row{"disk_type", kPackage, "master_config { disk_config { boot_disk_type: 'floppy' } }",
            "master_config.disk_config.boot_disk_type: "},
        Row{"disk_size", kPackage, "worker_config { disk_config { boot_disk_size_gb: -1 } }",
            "worker_config.disk_config.boot_disk_size_gb: "}),
    RowName);

}  // namespace
}  // namespace trainyard::jobs
