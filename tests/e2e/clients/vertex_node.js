// Creates a custom job of Vertex AI, waits for its end and reads it: node vertex_node.js PACKAGE IMAGE rest|grpc
const {JobServiceClient} = require('@google-cloud/aiplatform').v1;

async function main([packageUri, executorImageUri, transport]) {
  const client = new JobServiceClient({apiEndpoint: 'us-central1-aiplatform.googleapis.com', fallback: transport === 'rest'});
  const parent = 'projects/p/locations/us-central1';
  const workerPoolSpecs = [{
    machineSpec: {machineType: 'n1-standard-4'}, replicaCount: 1,
    pythonPackageSpec: {executorImageUri, packageUris: [packageUri], pythonModule: 'probe.task', args: ['print', 'from node']},
  }];
  let [job] = await client.createCustomJob({parent, customJob: {displayName: 'census', jobSpec: {workerPoolSpecs}}});
  while (!job.endTime) {
    await new Promise(resolve => setTimeout(resolve, 200));
    [job] = await client.getCustomJob({name: job.name});
  }
  const [listed] = await client.listCustomJobs({parent, filter: 'display_name="census"'});
  console.log(job.state, job.displayName, listed.length);
}

main(process.argv.slice(2));
