package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"kioku/council"
	"kioku/council/folder"
)

// oldAttachment is how the article's page describes a file in attachments/<task> or attachments/<task>/comments/<comment>.
type oldAttachment struct {
	Filename     string `json:"filename"`
	OriginalName string `json:"original_name"`
	// Name and File are what a council of ours has.
	Name string `json:"name"`
	File string `json:"file"`
}

// attachments copies the files that a record of the other folder lists from one of the folders from to the folder to, and returns how
// they are listed here.
func (i *importer) attachments(rel string, list []oldAttachment, from []string, to, prefix string) ([]council.Attachment, error) {
	var all []council.Attachment
	for n, old := range list {
		name := cmp.Or(old.Filename, old.File)
		if n >= council.MaxAttachments {
			i.skip(rel, "attachment %.80q: at most %d are taken", name, council.MaxAttachments)
			continue
		}
		data, err := i.attachment(name, from)
		if err != nil {
			i.skip(rel, "attachment %.80q: %v", name, err)
			continue
		}
		a := council.Attachment{Name: cmp.Or(old.OriginalName, old.Name, name), File: prefix + fileName(name, n), Size: int64(len(data))}
		if !i.dry {
			if err := i.e.f.PublishBytes(to+"/"+a.File, data); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		i.report.Attachments++
		all = append(all, a)
	}
	return all, nil
}

// attachment reads a file from the first of some folders that has it.
func (i *importer) attachment(name string, folders []string) (data []byte, err error) {
	if err := council.CheckFile(name); err != nil {
		return nil, err // a path, which is not followed
	}
	for _, folder := range folders {
		if data, err = i.src.ReadBytes(fmt.Sprintf("%s/%s", folder, name), maxUpload); err == nil {
			return data, nil
		}
	}
	return nil, err
}

// comments copies the comments of a discussion, whose author is a word.
func (i *importer) comments(id string) error {
	dir := "discussions/" + id
	var old []struct {
		ID, Message  string
		Attachments  []oldAttachment
		Author       string
		RequestRound bool      `json:"request_round"`
		CreatedAt    time.Time `json:"created_at"`
	}
	if err := i.src.Read(dir+"/comments.json", &old); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			i.skip(dir+"/comments.json", "%v", err)
		}
		return nil
	}
	var all []council.Comment
	for _, c := range old {
		kind := "stranger"
		if c.Author == "user" {
			kind = "owner"
		}
		comment := council.Comment{ID: c.ID, Message: c.Message, RequestRound: c.RequestRound, CreatedAt: c.CreatedAt, Author: council.Author{Kind: kind, Name: c.Author}}
		if len(c.Attachments) > 0 && council.ValidID(c.ID) {
			var err error
			from := []string{"attachments/" + id + "/comments/" + c.ID, dir + "/attachments"}
			if comment.Attachments, err = i.attachments(dir+"/comments.json", c.Attachments, from, folder.TaskDir(id)+"/attachments", c.ID+"-"); err != nil {
				return err
			}
		}
		all = append(all, comment)
	}
	if len(all) == 0 || i.dry {
		return nil
	}
	return i.replace(folder.TaskDir(id)+"/comments.json", all)
}
