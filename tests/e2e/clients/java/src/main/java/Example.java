import com.google.api.client.googleapis.javanet.GoogleNetHttpTransport;
import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.HttpResponse;
import com.google.cloud.storage.Blob;
import com.google.cloud.storage.BlobInfo;
import com.google.cloud.storage.BucketInfo;
import com.google.cloud.storage.Storage;
import com.google.cloud.storage.StorageOptions;
import java.nio.charset.StandardCharsets;

/** google-cloud-storage as its manual shows it: no endpoint, no credentials. */
public final class Example {
  public static void main(String[] arguments) throws Exception {
    Storage storage = StorageOptions.getDefaultInstance().getService();
    storage.create(BucketInfo.of("java-bucket"));
    BlobInfo blob = BlobInfo.newBuilder("java-bucket", "dir/hello").build();
    storage.create(blob, "from java".getBytes(StandardCharsets.UTF_8));
    System.out.println("READ " + new String(storage.readAllBytes(blob.getBlobId()), StandardCharsets.UTF_8));
    for (Blob found : storage.list("java-bucket").iterateAll()) System.out.println("LISTED " + found.getName());
    System.out.println("PROJECT " + storage.getOptions().getProjectId());
    storage.delete(blob.getBlobId());
    System.out.println("LEFT " + storage.list("java-bucket").iterateAll().iterator().hasNext());
    // The transport of google-api-services-ml and its like: it trusts a store in the client's own archive alone.
    GenericUrl jobs = new GenericUrl("https://ml.googleapis.com/v1/projects/p/jobs");
    HttpResponse answer = GoogleNetHttpTransport.newTrustedTransport().createRequestFactory().buildGetRequest(jobs).execute();
    System.out.println("JOBS " + answer.getStatusCode());
  }
}
