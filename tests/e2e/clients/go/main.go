// cloud.google.com/go/storage as its manual shows it: no endpoint, no credentials.
package main

import (
	"context"
	"fmt"
	"io"
	"log"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	client, err := storage.NewClient(ctx)
	check(err)
	bucket := client.Bucket("go-bucket")
	check(bucket.Create(ctx, "p", nil))
	object := bucket.Object("dir/hello")
	writer := object.NewWriter(ctx)
	_, err = writer.Write([]byte("from go"))
	check(err)
	check(writer.Close())
	reader, err := object.NewReader(ctx)
	check(err)
	content, err := io.ReadAll(reader)
	check(err)
	fmt.Println("READ", string(content))
	objects := bucket.Objects(ctx, nil)
	for {
		found, err := objects.Next()
		if err == iterator.Done {
			break
		}
		check(err)
		fmt.Println("LISTED", found.Name)
	}
	check(object.Delete(ctx))
}
